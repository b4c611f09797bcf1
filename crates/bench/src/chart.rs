//! The table as a chart: a bar for each ratio on a log scale, which begins at the first peer's cost, and a
//! mark where the goal is.

use crate::Result;
use crate::report::{Line, Report, goal, short};
use crate::rows::Goal;
use crate::svg::{Anchor, Svg};

const WIDTH: f64 = 1000.0;
/// Where the bars' area begins and how wide it is; names are on its left, figures on its right.
const LEFT: f64 = 380.0;
const AREA: f64 = 400.0;
const TOP: f64 = 62.0;
const ROW: f64 = 22.0;
const BAR: f64 = 12.0;

/// The chart of all lines that have a ratio.
pub fn chart(report: &Report) -> Result<String> {
    let lines: Vec<_> = report.lines.iter().filter_map(charted).collect();
    let [quipu, base, ..] = report.subjects.as_slice() else {
        return Err("a chart of ratios needs a peer; give one with --peer NAME=BINARY".into());
    };
    if lines.is_empty() {
        return Err("no row that was measured has a ratio to draw".into());
    }
    let scale = Scale::around(lines.iter().flat_map(|(line, ratio)| {
        let goal = goal_value(line.goal).unwrap_or(*ratio);
        [*ratio, goal]
    }));
    let height = TOP + ROW * lines.len() as f64 + 12.0;
    let title = format!("{quipu} as a ratio to {base}");
    let mut svg = Svg::new(WIDTH, height, &title);
    svg.text((8.0, 20.0), "title", Anchor::Start, &title);
    let legend =
        "log scale; bars begin where both are equal; the stroke across a bar's row is its goal";
    svg.text((8.0, 38.0), "quiet", Anchor::Start, legend);
    for decade in scale.low..=scale.high {
        let value = 10_f64.powi(decade);
        let x = scale.x(value);
        let class = if decade == 0 { "base" } else { "grid" };
        svg.line((x, TOP), (x, height - 8.0), class);
        svg.text(
            (x, TOP - 6.0),
            "quiet",
            Anchor::Middle,
            &format!("{value}×"),
        );
    }
    for (index, (line, ratio)) in lines.into_iter().enumerate() {
        bar(&mut svg, &scale, TOP + ROW * index as f64, line, ratio);
    }
    Ok(svg.finish())
}

/// A line with Quipu's ratio, if it can be drawn.
fn charted(line: &Line) -> Option<(&Line, f64)> {
    let ratio = line.ratios.first().copied();
    ratio.filter(|it| *it > 0.0).map(|ratio| (line, ratio))
}

fn bar(svg: &mut Svg, scale: &Scale, top: f64, line: &Line, ratio: f64) {
    let baseline = top + ROW / 2.0 + 4.0;
    let name = line.name.replace('`', "");
    svg.text((LEFT - 10.0, baseline), "name", Anchor::End, &name);
    let (from, to) = (scale.x(1.0), scale.x(ratio));
    let met = goal(line);
    let class = match line.goal {
        Goal::Limit(_) | Goal::None => "c2",
        _ if met.ends_with("held") => "c0",
        _ => "c1",
    };
    let upper = top + (ROW - BAR) / 2.0;
    let width = (to - from).abs();
    svg.rect((from.min(to), upper), (width, BAR), class);
    if let Some(goal) = goal_value(line.goal) {
        let x = scale.x(goal);
        svg.line((x, top + 2.0), (x, top + ROW - 2.0), "goal");
    }
    let figure = match line.goal {
        Goal::Limit(_) | Goal::None => short(ratio),
        _ => format!("{}, goal {met}", short(ratio)),
    };
    svg.text(
        (LEFT + AREA + 10.0, baseline),
        "name",
        Anchor::Start,
        &figure,
    );
}

fn goal_value(goal: Goal) -> Option<f64> {
    match goal {
        Goal::AtMost(value) | Goal::AtLeast(value) => Some(value),
        Goal::Limit(_) | Goal::None => None,
    }
}

/// Whole decades over the width of the area; 1 is always among them.
struct Scale {
    low: i32,
    high: i32,
}

impl Scale {
    fn around(values: impl Iterator<Item = f64>) -> Scale {
        let (mut low, mut high) = (-1, 0);
        for value in values {
            let exponent = value.log10();
            low = low.min(exponent.floor() as i32);
            high = high.max(exponent.ceil() as i32);
        }
        Scale { low, high }
    }

    fn x(&self, value: f64) -> f64 {
        let share = (value.log10() - f64::from(self.low)) / f64::from(self.high - self.low);
        LEFT + AREA * share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scale_covers_whole_decades() {
        let scale = Scale::around([0.018, 0.04, 60.2].into_iter());
        assert_eq!((scale.low, scale.high), (-2, 2));
        assert_eq!(scale.x(1.0), LEFT + AREA / 2.0);
        assert_eq!(scale.x(100.0), LEFT + AREA);
    }

    #[test]
    fn without_a_peer_there_is_nothing_to_draw() {
        let report = Report::new(&[crate::ground::Subject::new("quipu", "a")], 1, true);
        assert!(chart(&report).unwrap_err().to_string().contains("--peer"));
    }
}
