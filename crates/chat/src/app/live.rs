//! What is shown below the scrollback: what is being written, what is asked, what is typed.

use super::{App, Link};
use crate::edit::Edit;
use crate::question::Ask;
use crate::screen::Live;
use crate::style::{Line, Look};
use crate::wrap::{cut, width, wrap};

const PROMPT: &str = "> ";

impl App {
    /// The lines for a terminal of this size.
    pub fn live(&self, columns: usize, rows: usize) -> Live {
        let mut lines = self.transcript.live(columns);
        lines.push(Line::default());
        lines.extend(status_line(self, columns));
        lines.extend(question_lines(self, columns));
        if let Some(menu) = &self.menu {
            lines.extend(menu.lines(columns));
        }
        let (input, (row, column)) = input_lines(&self.edit, columns);
        let cursor = (lines.len() + row, column);
        lines.extend(input);
        if self.is_leaving {
            lines.push(Line::dim(cut("ctrl-c again to leave", columns)));
        }
        // The input may be longer than the screen; the cursor stays visible.
        let below = lines.len() - cursor.0;
        let most = rows.saturating_sub(1).max(1);
        if lines.len() > most && below < most {
            let hidden = lines.len() - most;
            lines.drain(..hidden);
            return Live {
                lines,
                cursor: (cursor.0 - hidden, cursor.1),
            };
        }
        Live { lines, cursor }
    }
}

/// What is being done, or what is wrong.
fn status_line(app: &App, columns: usize) -> Option<Line> {
    let text = match &app.link {
        Link::Lost(cause) => {
            let text = format!("no server, retrying ({}s): {cause}", app.seconds);
            return Some(Line::alert(cut(&text, columns)));
        }
        Link::Connected if app.open.is_none() && app.is_opening => "connecting".to_owned(),
        Link::Connected if app.open.is_none() => {
            "no conversation is open; what you send begins one".to_owned()
        }
        Link::Connected if app.is_busy() => {
            format!(
                "{} ({}s, ctrl-c stops)",
                app.transcript.activity, app.seconds
            )
        }
        Link::Connected => return None,
    };
    let waiting = match app.waiting.len() {
        0 => String::new(),
        count => format!(", {count} to be sent"),
    };
    Some(Line::dim(cut(&format!("{text}{waiting}"), columns)))
}

/// The question that waits for an answer.
fn question_lines(app: &App, columns: usize) -> Vec<Line> {
    let Some(question) = app.questions.front() else {
        return Vec::new();
    };
    let changes = match &question.ask {
        Ask::Patch(id, ..) => app.transcript.changes(id),
        _ => &[],
    };
    let mut lines = question.lines(changes);
    if Some(question.thread_id.as_str()) != app.thread_id() {
        let text = format!("(for the agent in thread {})", question.thread_id);
        lines.insert(0, Line::dim(text));
    }
    if !app.edit.is_empty() && !question.takes_text() {
        lines.push(Line::dim("  tab sets your text aside to answer"));
    }
    if app.questions.len() > 1 {
        lines.push(Line::dim(format!(
            "  {} more questions",
            app.questions.len() - 1
        )));
    }
    lines.iter().flat_map(|it| wrap(it, columns)).collect()
}

/// What is typed, and where the cursor is in it.
fn input_lines(edit: &Edit, columns: usize) -> (Vec<Line>, (usize, usize)) {
    let space = columns.saturating_sub(PROMPT.len() + 1).max(4);
    let (mut lines, mut cursor) = (Vec::new(), (0, PROMPT.len()));
    let mut start = 0;
    for line in edit.text().split('\n') {
        let mut row = String::new();
        for (at, letter) in line.char_indices() {
            if start + at == edit.cursor() {
                cursor = (lines.len(), PROMPT.len() + width(&row));
            }
            row.push(letter);
            if width(&row) > space {
                row.pop();
                push(&mut lines, &row);
                if start + at == edit.cursor() {
                    cursor = (lines.len(), PROMPT.len());
                }
                row = letter.to_string();
            }
        }
        if start + line.len() == edit.cursor() {
            cursor = (lines.len(), PROMPT.len() + width(&row));
        }
        push(&mut lines, &row);
        start += line.len() + 1;
    }
    (lines, cursor)
}

fn push(lines: &mut Vec<Line>, row: &str) {
    let mark = if lines.is_empty() { PROMPT } else { "  " };
    lines.push(Line::new(format!("{mark}{row}"), Look::Plain));
}
