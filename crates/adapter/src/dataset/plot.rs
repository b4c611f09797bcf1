//! The scores of a report as bars, one group for each score and one bar for each variant.

use std::fmt::Write as _;

use super::Report;

const HEIGHT: f64 = 200.0;
const BAR: f64 = 36.0;
const GAP: f64 = 28.0;
const LEFT: f64 = 44.0;
const TOP: f64 = 16.0;
/// Colours that people who do not see all colours can tell apart.
const COLOURS: [&str; 6] = [
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00",
];

pub(super) fn svg(report: &Report) -> String {
    let mut svg = String::new();
    draw(report, &mut svg).unwrap_or_default();
    svg
}

fn draw(report: &Report, svg: &mut String) -> std::fmt::Result {
    let summaries: Vec<_> = report.variants.iter().map(|it| it.summary()).collect();
    let group = BAR * summaries.len() as f64 + GAP;
    let width = LEFT + (group * report.scores.len() as f64).max(240.0) + 10.0;
    let legend = TOP + HEIGHT + 40.0;
    let height = legend + 18.0 * summaries.len() as f64;
    writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">"
    )?;
    writeln!(
        svg,
        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>"
    )?;
    for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let y = level(tick);
        writeln!(
            svg,
            "<line x1=\"{LEFT}\" x2=\"{width}\" y1=\"{y}\" y2=\"{y}\" stroke=\"#dddddd\"/>"
        )?;
        writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{tick}</text>",
            LEFT - 6.0,
            y + 4.0
        )?;
    }
    for (at, score) in report.scores.iter().enumerate() {
        let left = LEFT + GAP / 2.0 + group * at as f64;
        for (variant, summary) in summaries.iter().enumerate() {
            let (mean, half) = summary.scores.get(at).copied().unwrap_or_default();
            bar(
                svg,
                left + BAR * variant as f64,
                mean,
                half,
                COLOURS[variant % COLOURS.len()],
            )?;
        }
        let middle = left + BAR * summaries.len() as f64 / 2.0;
        let y = TOP + HEIGHT + 18.0;
        writeln!(
            svg,
            "<text x=\"{middle}\" y=\"{y}\" text-anchor=\"middle\">{}</text>",
            escaped(score)
        )?;
    }
    for (at, variant) in report.variants.iter().enumerate() {
        let (y, colour) = (legend + 18.0 * at as f64, COLOURS[at % COLOURS.len()]);
        writeln!(
            svg,
            "<rect x=\"{LEFT}\" y=\"{y}\" width=\"10\" height=\"10\" fill=\"{colour}\"/>"
        )?;
        writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\">{}</text>",
            LEFT + 16.0,
            y + 10.0,
            escaped(&variant.name)
        )?;
    }
    writeln!(svg, "</svg>")
}

/// One bar with its interval.
fn bar(svg: &mut String, x: f64, mean: f64, half: f64, colour: &str) -> std::fmt::Result {
    let (y, middle) = (level(mean), x + BAR / 2.0);
    let (width, height) = (BAR - 4.0, TOP + HEIGHT - y);
    writeln!(
        svg,
        "<rect class=\"bar\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{colour}\"><title>{mean:.3} ± {half:.3}</title></rect>"
    )?;
    let (low, high) = (level((mean - half).max(0.0)), level((mean + half).min(1.0)));
    writeln!(
        svg,
        "<line x1=\"{middle}\" x2=\"{middle}\" y1=\"{low}\" y2=\"{high}\" stroke=\"#222222\"/>"
    )
}

fn level(score: f64) -> f64 {
    TOP + HEIGHT * (1.0 - score)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
