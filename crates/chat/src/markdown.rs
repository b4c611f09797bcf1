//! What the agent says, line by line as it comes: enough of Markdown to be read well in a terminal.

use crate::style::{Line, Look};
use crate::wrap::clean;

/// A message that is being written.
#[derive(Debug, Default)]
pub struct Message {
    /// The line that is not complete.
    tail: String,
    is_code: bool,
}

impl Message {
    /// Adds text; the lines that are complete with it.
    pub fn push(&mut self, text: &str) -> Vec<Line> {
        self.tail.push_str(text);
        let mut lines = Vec::new();
        while let Some((line, rest)) = self.tail.split_once('\n') {
            let (line, rest) = (line.to_owned(), rest.to_owned());
            lines.push(self.line(&line));
            self.tail = rest;
        }
        lines
    }

    /// The last line, when nothing follows.
    pub fn end(&mut self) -> Option<Line> {
        let tail = std::mem::take(&mut self.tail);
        let line = (!tail.is_empty()).then(|| self.line(&tail));
        self.is_code = false;
        line
    }

    /// The line that is being written.
    pub fn tail(&self) -> Option<Line> {
        let is_fence = self.tail.trim_start().starts_with("```");
        let look = if self.is_code || is_fence {
            Look::Dim
        } else {
            Look::Plain
        };
        (!self.tail.is_empty()).then(|| Line::new(clean(&self.tail), look))
    }

    fn line(&mut self, line: &str) -> Line {
        let line = clean(line);
        if line.trim_start().starts_with("```") {
            self.is_code = !self.is_code;
            return Line::dim(line);
        }
        if self.is_code {
            return Line::new(line, Look::Dim);
        }
        match line.starts_with('#') {
            true => Line::new(line.trim_start_matches('#').trim().to_owned(), Look::Bold),
            false => Line::plain(line.replace("**", "")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_when_they_are_complete() {
        let mut message = Message::default();
        assert_eq!(message.push("# Ti"), []);
        assert_eq!(
            message.push("tle\n**so**"),
            [Line::new("Title", Look::Bold)]
        );
        assert_eq!(
            message.push("\n```rust\nlet # x;\n```\n\x1b[2Jend").len(),
            4
        );
        assert_eq!(message.tail(), Some(Line::plain("end")));
        assert_eq!(message.end(), Some(Line::plain("end")));
        assert_eq!(message.end(), None);
    }
}
