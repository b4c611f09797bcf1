//! Drawing: finished lines go into the scrollback, and below them a few lines are drawn again with every change. No
//! alternate screen, so what was said stays in the terminal.

use std::io::{self, Write};

use crate::style::Line;
use crate::wrap::{width, wrap};

/// What is below the scrollback.
#[derive(Debug, Default)]
pub struct Live {
    pub lines: Vec<Line>,
    /// Row and column of the cursor in these lines.
    pub cursor: (usize, usize),
}

/// The terminal as it was left by the last drawing.
pub struct Screen<W: Write> {
    out: W,
    colour: bool,
    columns: usize,
    rows: usize,
    /// The widths of the rows that are drawn, and the row of the cursor.
    drawn: Vec<usize>,
    cursor_row: usize,
}

impl<W: Write> Screen<W> {
    pub fn new(out: W, colour: bool, (columns, rows): (u16, u16)) -> Screen<W> {
        let mut screen = Screen {
            out,
            colour,
            columns: 0,
            rows: 0,
            drawn: Vec::new(),
            cursor_row: 0,
        };
        screen.resize(columns, rows);
        screen
    }

    pub fn columns(&self) -> usize {
        self.columns
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Takes a new size. Terminals break drawn rows again, which moves the place where they begin.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        // Some terminals report nothing until they are asked again.
        let columns = usize::from(if columns == 0 { 80 } else { columns });
        let broken = |width: &usize| width.div_ceil(columns).max(1);
        self.cursor_row = self.drawn.iter().take(self.cursor_row).map(broken).sum();
        self.columns = columns;
        self.rows = usize::from(if rows == 0 { 24 } else { rows });
    }

    /// Prints lines into the scrollback and draws the rest below them, in one write.
    pub fn draw(&mut self, printed: &[Line], live: &Live) -> io::Result<()> {
        let mut text = String::from("\x1b[?25l\r");
        if self.cursor_row > 0 {
            text.push_str(&format!("\x1b[{}A", self.cursor_row));
        }
        // Lines are erased one by one. To erase the whole screen at once, as from its first line, makes some terminals
        // keep what it showed in their scrollback.
        for line in printed.iter().flat_map(|line| wrap(line, self.columns)) {
            text.push_str("\x1b[K");
            text.push_str(&line.painted(self.colour));
            text.push_str("\r\n");
        }
        // What does not fit is cut at the top: the input is at the bottom.
        let skipped = live.lines.len().saturating_sub(self.rows);
        let shown = &live.lines[skipped..];
        let (last, others) = match shown.split_last() {
            Some((last, others)) => (last.painted(self.colour), others),
            None => (String::new(), shown),
        };
        for line in others {
            text.push_str("\x1b[K");
            text.push_str(&line.painted(self.colour));
            text.push_str("\r\n");
        }
        text.push_str("\x1b[J");
        text.push_str(&last);
        let (row, column) = live.cursor;
        let row = row.saturating_sub(skipped);
        let up = shown.len().saturating_sub(1).saturating_sub(row);
        if up > 0 {
            text.push_str(&format!("\x1b[{up}A"));
        }
        text.push('\r');
        if column > 0 {
            text.push_str(&format!("\x1b[{column}C"));
        }
        text.push_str("\x1b[?25h");
        self.drawn = shown.iter().map(|line| width(&line.text)).collect();
        self.cursor_row = row;
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    /// Removes what is below the scrollback, to leave the terminal.
    pub fn leave(&mut self, printed: &[Line]) -> io::Result<()> {
        self.draw(printed, &Live::default())?;
        self.drawn.clear();
        self.cursor_row = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cursor_returns_to_where_drawing_began() {
        let mut screen = Screen::new(Vec::new(), false, (20, 5));
        let live = |count: usize| Live {
            lines: (0..count).map(|it| Line::plain(it.to_string())).collect(),
            cursor: (count - 1, 1),
        };
        screen.draw(&[Line::plain("said")], &live(3)).unwrap();
        screen.draw(&[], &live(1)).unwrap();
        let text = String::from_utf8(screen.out).unwrap();
        assert_eq!(
            text,
            "\x1b[?25l\r\x1b[Ksaid\r\n\x1b[K0\r\n\x1b[K1\r\n\x1b[J2\r\x1b[1C\x1b[?25h\x1b[?25l\r\x1b[2A\x1b[J0\r\x1b[1C\x1b[?25h"
        );
    }

    #[test]
    fn a_narrower_terminal_has_more_rows_above_the_cursor() {
        let mut screen = Screen::new(Vec::new(), false, (40, 5));
        let lines = vec![Line::plain("x".repeat(30)), Line::plain("y")];
        screen
            .draw(
                &[],
                &Live {
                    lines,
                    cursor: (1, 0),
                },
            )
            .unwrap();
        screen.resize(10, 5);
        assert_eq!(screen.cursor_row, 3);
    }
}
