//! What people read while a run goes on. On a terminal a line at the bottom shows that
//! it does; elsewhere there is plain text only.

use std::borrow::Cow;
use std::io::{IsTerminal as _, Write};
use std::time::Instant;

use super::args::Color;

/// The frames of the line that shows life.
const FRAMES: [&str; 4] = ["|", "/", "-", "\\"];
/// Wider text would wrap, and a wrapped line cannot be wiped.
const STATUS_WIDTH: usize = 60;

/// How a piece of text looks where colours are on.
#[derive(Clone, Copy)]
pub enum Look {
    Plain,
    Strong,
    Faint,
    Good,
    Bad,
    Place,
}

impl Look {
    fn code(self) -> &'static str {
        match self {
            Look::Plain => "0",
            Look::Strong => "1",
            Look::Faint => "2",
            Look::Good => "32",
            Look::Bad => "31",
            Look::Place => "36",
        }
    }
}

/// Where it is written to.
#[derive(Clone, Copy)]
pub enum Stream {
    Output,
    Error,
}

pub struct Screen {
    stream: Stream,
    terminal: bool,
    colors: bool,
    /// Whether the cursor is at the start of a line.
    at_start: bool,
    /// Whether the status is on the screen.
    shown: bool,
    began: Instant,
}

impl Screen {
    pub fn new(stream: Stream, color: Color) -> Screen {
        let terminal = match stream {
            Stream::Output => std::io::stdout().is_terminal(),
            Stream::Error => std::io::stderr().is_terminal(),
        };
        let colors = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => terminal && std::env::var_os("NO_COLOR").is_none(),
        };
        Screen {
            stream,
            terminal,
            colors,
            at_start: true,
            shown: false,
            began: Instant::now(),
        }
    }

    /// Whether somebody watches the text grow.
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// A whole line, on a line of its own.
    pub fn line(&mut self, look: Look, text: &str) {
        self.end_line();
        self.put(look, text);
        self.put(Look::Plain, "\n");
    }

    /// Text that goes on where the last one ended.
    pub fn put(&mut self, look: Look, text: &str) {
        if text.is_empty() {
            return;
        }
        self.wipe();
        let text = match self.terminal {
            true => harmless(text),
            false => Cow::Borrowed(text),
        };
        match (self.colors, look) {
            (false, _) | (true, Look::Plain) => self.write(&text),
            (true, look) => self.write(&format!("\x1b[{}m{text}\x1b[0m", look.code())),
        }
        self.at_start = text.ends_with('\n');
    }

    /// Ends a line that was begun.
    pub fn end_line(&mut self) {
        if !self.at_start {
            self.put(Look::Plain, "\n");
        }
    }

    /// Shows at the bottom of a terminal that work goes on.
    pub fn status(&mut self, doing: &str) {
        if !self.terminal || !self.at_start {
            return;
        }
        let passed = self.began.elapsed();
        let frame = FRAMES[(passed.as_millis() / 120) as usize % FRAMES.len()];
        let doing: String = doing.chars().take(STATUS_WIDTH).collect();
        self.write(&format!(
            "\r\x1b[2K{frame} {doing} ({} s)",
            passed.as_secs()
        ));
        self.shown = true;
    }

    /// Takes the status away.
    pub fn wipe(&mut self) {
        if std::mem::take(&mut self.shown) {
            self.write("\r\x1b[2K");
        }
    }

    /// Nobody is left to tell when the stream is gone.
    fn write(&self, text: &str) {
        let mut stream: Box<dyn Write> = match self.stream {
            Stream::Output => Box::new(std::io::stdout().lock()),
            Stream::Error => Box::new(std::io::stderr().lock()),
        };
        stream.write_all(text.as_bytes()).ok();
        stream.flush().ok();
    }
}

/// The text without what a terminal would obey: a command's output must not move the cursor, and a model's
/// must not retitle the window.
fn harmless(text: &str) -> Cow<'_, str> {
    let obeyed = |it: char| it.is_control() && !matches!(it, '\n' | '\t');
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    let mut left = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(it) = rest.next() {
        match it {
            // A sequence such as those for colours, up to the letter that ends it.
            '\x1b' if rest.as_str().starts_with('[') => {
                rest.next();
                rest.find(|it| ('@'..='~').contains(it));
            }
            it if obeyed(it) => {}
            it => left.push(it),
        }
    }
    Cow::Owned(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_are_given_no_orders() {
        for (text, left) in [
            ("plain\n\ttext …", "plain\n\ttext …"),
            ("\x1b[1;31mred\x1b[0m", "red"),
            ("10%\r20%\r\n", "10%20%\n"),
            ("\x1b]0;title\x07words", "]0;titlewords"),
            ("cut \x1b[3", "cut "),
            ("end \x1b", "end "),
        ] {
            assert_eq!(harmless(text), left, "{text:?}");
        }
    }
}
