//! Just enough SVG for the charts: shapes and words whose colours follow the reader's light or dark page.

use std::fmt::Display;

/// Colours by class. The page behind shows through.
const STYLE: &str = "\
text{font:12px system-ui,sans-serif;fill:#1f2328}\
.title{font-size:14px;font-weight:600}\
.quiet{fill:#59636e}\
.grid{stroke:#d1d9e0}\
.base,.goal{stroke:#1f2328;stroke-width:2}\
.c0{color:#0969da}\
.c1{color:#bc4c00}\
.c2{color:#8c959f}\
.c3{color:#8250df}\
rect{fill:currentColor}\
polyline{fill:none;stroke:currentColor;stroke-width:1.5}\
@media(prefers-color-scheme:dark){\
text{fill:#f0f6fc}\
.quiet{fill:#9198a1}\
.grid{stroke:#3d444d}\
.base,.goal{stroke:#f0f6fc}\
.c0{color:#4493f8}\
.c1{color:#f0883e}\
.c2{color:#656c76}\
.c3{color:#ab7df8}}";

/// How many classes of colour there are: `c0` and so on.
pub const COLOURS: usize = 4;

/// Where a text's position lies in it.
#[derive(Debug, Clone, Copy)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// A drawing in the making.
#[derive(Debug)]
pub struct Svg {
    body: String,
}

impl Svg {
    /// An empty drawing with a title for those who cannot see it.
    pub fn new(width: f64, height: f64, title: &str) -> Svg {
        let body = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{}</title>\n<style>{STYLE}</style>\n",
            escaped(title)
        );
        Svg { body }
    }

    pub fn text(&mut self, (x, y): (f64, f64), class: &str, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escaped(text);
        self.push(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"{class}\" text-anchor=\"{anchor}\">{text}</text>"
        ));
    }

    /// A box from its upper left corner.
    pub fn rect(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), class: &str) {
        self.push(format_args!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" class=\"{class}\"/>"
        ));
    }

    pub fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), class: &str) {
        self.push(format_args!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" class=\"{class}\"/>"
        ));
    }

    pub fn polyline(&mut self, points: &[(f64, f64)], class: &str) {
        let points: Vec<_> = points
            .iter()
            .map(|(x, y)| format!("{x:.1},{y:.1}"))
            .collect();
        let points = points.join(" ");
        self.push(format_args!(
            "<polyline points=\"{points}\" class=\"{class}\"/>"
        ));
    }

    pub fn finish(mut self) -> String {
        self.body.push_str("</svg>\n");
        self.body
    }

    fn push(&mut self, element: impl Display) {
        self.body.push_str(&element.to_string());
        self.body.push('\n');
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_words() {
        let mut svg = Svg::new(10.0, 10.0, "a & b");
        svg.text((1.0, 2.25), "quiet", Anchor::End, "x < y");
        let text = svg.finish();
        assert!(text.contains("<title>a &amp; b</title>"));
        assert!(text.ends_with(
            "<text x=\"1.0\" y=\"2.2\" class=\"quiet\" text-anchor=\"end\">x &lt; y</text>\n</svg>\n"
        ));
    }
}
