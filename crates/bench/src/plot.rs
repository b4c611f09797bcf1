//! Values against time or size as lines, one panel below the other.

use crate::report::short;
use crate::svg::{Anchor, COLOURS, Svg};

const WIDTH: f64 = 760.0;
const LEFT: f64 = 70.0;
const AREA: (f64, f64) = (520.0, 140.0);
const PANEL: f64 = 220.0;
/// From a panel's top to its area's.
const HEAD: f64 = 34.0;

/// One panel: an axis of sizes or seconds, an axis of cost that begins at nothing, a line per series.
#[derive(Debug)]
pub struct Panel {
    pub title: String,
    pub across: String,
    /// Sizes grow tenfold from mark to mark.
    pub log: bool,
    pub series: Vec<Series>,
}

#[derive(Debug)]
pub struct Series {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// All panels in one drawing.
pub fn plot(title: &str, panels: &[Panel]) -> String {
    let mut svg = Svg::new(WIDTH, 30.0 + PANEL * panels.len() as f64, title);
    svg.text((8.0, 20.0), "title", Anchor::Start, title);
    for (index, panel) in panels.iter().enumerate() {
        draw(&mut svg, 30.0 + PANEL * index as f64, panel);
    }
    svg.finish()
}

fn draw(svg: &mut Svg, top: f64, panel: &Panel) {
    let (width, height) = AREA;
    let axes = Axes::of(panel, top + HEAD);
    svg.text((8.0, top + 20.0), "name", Anchor::Start, &panel.title);
    for share in [0.0, 0.5, 1.0] {
        let y = top + HEAD + height * (1.0 - share);
        svg.line((LEFT, y), (LEFT + width, y), "grid");
        let value = short(axes.most * share);
        svg.text((LEFT - 8.0, y + 4.0), "quiet", Anchor::End, &value);
    }
    for size in axes.marks() {
        let place = (axes.x(size), top + HEAD + height + 16.0);
        svg.text(place, "quiet", Anchor::Middle, &size.to_string());
    }
    let place = (LEFT + width / 2.0, top + HEAD + height + 32.0);
    svg.text(place, "quiet", Anchor::Middle, &panel.across);
    for (index, series) in panel.series.iter().enumerate() {
        let class = format!("c{}", index % COLOURS);
        let points: Vec<_> = series.points.iter().map(|it| axes.place(*it)).collect();
        svg.polyline(&points, &class);
        let y = top + HEAD + 6.0 + 18.0 * index as f64;
        svg.rect((LEFT + width + 20.0, y), (10.0, 10.0), &class);
        let place = (LEFT + width + 36.0, y + 10.0);
        svg.text(place, "name", Anchor::Start, &series.name);
    }
}

/// Where values lie in a panel.
struct Axes {
    top: f64,
    log: bool,
    least: f64,
    widest: f64,
    most: f64,
}

impl Axes {
    fn of(panel: &Panel, top: f64) -> Axes {
        let points = panel.series.iter().flat_map(|it| &it.points);
        let (mut least, mut widest, mut most) = (f64::INFINITY, f64::NEG_INFINITY, 0.0_f64);
        for (size, value) in points {
            least = least.min(*size);
            widest = widest.max(*size);
            most = most.max(*value);
        }
        Axes {
            top,
            log: panel.log,
            least,
            widest,
            // Room above, so that a flat line does not look like a limit.
            most: if most > 0.0 { most * 1.25 } else { 1.0 },
        }
    }

    /// The sizes that are written below: the ends, and tenfold steps between them.
    fn marks(&self) -> Vec<f64> {
        let mut marks = Vec::new();
        let mut size = self.least;
        while self.log && size > 0.0 && size < self.widest {
            marks.push(size);
            size *= 10.0;
        }
        if marks.is_empty() && self.least < self.widest {
            marks.push(self.least);
        }
        if self.widest.is_finite() {
            marks.push(self.widest);
        }
        marks
    }

    fn x(&self, size: f64) -> f64 {
        let [size, least, widest] =
            [size, self.least, self.widest].map(|it| if self.log { it.log10() } else { it });
        match widest - least {
            span if span > 0.0 => LEFT + AREA.0 * (size - least) / span,
            _ => LEFT,
        }
    }

    fn place(&self, (size, value): (f64, f64)) -> (f64, f64) {
        let y = self.top + AREA.1 * (1.0 - value.max(0.0) / self.most);
        (self.x(size), y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(log: bool, points: Vec<(f64, f64)>) -> Panel {
        let name = "quipu".to_owned();
        Panel {
            title: "memory, MB".to_owned(),
            across: "seconds".to_owned(),
            log,
            series: vec![Series { name, points }],
        }
    }

    #[test]
    fn axes_hold_all_points() {
        let panel = panel(true, vec![(10.0, 4.0), (100.0, 8.0), (1000.0, 2.0)]);
        let axes = Axes::of(&panel, 0.0);
        assert_eq!(axes.marks(), [10.0, 100.0, 1000.0]);
        assert_eq!(axes.most, 10.0);
        let (x, y) = axes.place((100.0, 8.0));
        assert_eq!(x, LEFT + AREA.0 / 2.0);
        assert!((y - AREA.1 * 0.2).abs() < 1e-9);
    }

    #[test]
    fn nothing_and_one_point_are_drawn_too() {
        for points in [vec![], vec![(1.0, 0.0)]] {
            let svg = plot("soak", &[panel(false, points)]);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
