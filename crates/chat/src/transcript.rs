//! What is shown of the turns of a conversation: finished lines for the scrollback, and what is still being written.

use std::collections::{HashMap, HashSet};

use quipu_client::wire::{FileUpdateChange, ThreadItem, Turn};

use crate::item;
use crate::markdown::Message;
use crate::style::Line;
use crate::wrap::{clean, cut, wrap};

/// Bytes of a running command's output that are kept to show its last lines.
const OUTPUT: usize = 4 << 10;
/// Rows of that output.
const OUTPUT_ROWS: usize = 3;
/// Rows of a message that is being written.
const TAIL_ROWS: usize = 6;
/// Turns of a resumed conversation that are shown.
const TURNS: usize = 5;

#[derive(Default)]
pub struct Transcript {
    printed: Vec<Line>,
    /// What is being done, in a few words.
    pub activity: String,
    message: Message,
    /// The messages that came in pieces.
    streamed: HashSet<String>,
    /// The end of what running commands printed.
    output: String,
    /// The changes of patches that have begun.
    patches: HashMap<String, Vec<FileUpdateChange>>,
    /// Whether a review is running. The user said nothing in it; the message is the reviewer's task.
    is_review: bool,
}

impl Transcript {
    /// Lines for the scrollback since the last time.
    pub fn take(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.printed)
    }

    pub fn print(&mut self, line: Line) {
        self.printed.push(line);
    }

    pub fn extend(&mut self, lines: impl IntoIterator<Item = Line>) {
        self.printed.extend(lines);
    }

    pub fn alert(&mut self, text: impl Into<String>) {
        self.print(Line::alert(text));
    }

    /// A piece of a message.
    pub fn stream(&mut self, item_id: &str, delta: &str) {
        if self.streamed.insert(item_id.to_owned()) {
            self.print(Line::default());
        }
        let lines = self.message.push(delta);
        self.extend(lines);
        "answering".clone_into(&mut self.activity);
    }

    /// A piece of a command's output.
    pub fn command_printed(&mut self, delta: &str) {
        self.output.push_str(&clean(delta));
        let excess = self.output.len().saturating_sub(OUTPUT);
        let cut = (excess..).find(|at| self.output.is_char_boundary(*at));
        self.output.replace_range(..cut.unwrap_or(0), "");
    }

    pub fn item_started(&mut self, started: &ThreadItem) {
        if let Some(activity) = item::activity(started) {
            self.activity = activity;
        }
        match started {
            ThreadItem::FileChange { id, changes, .. } => {
                self.patches.insert(id.clone(), changes.clone());
            }
            ThreadItem::CommandExecution { .. } => self.output.clear(),
            _ => {}
        }
    }

    pub fn item_ended(&mut self, ended: &ThreadItem) {
        match ended {
            ThreadItem::AgentMessage { id, .. } | ThreadItem::Plan { id, .. }
                if self.streamed.contains(id) =>
            {
                let last = self.message.end();
                return self.extend(last);
            }
            ThreadItem::FileChange { id, .. } => {
                self.patches.remove(id);
            }
            ThreadItem::CommandExecution { .. } => self.output.clear(),
            ThreadItem::EnteredReviewMode { .. } => self.is_review = true,
            ThreadItem::ExitedReviewMode { .. } => self.is_review = false,
            ThreadItem::UserMessage { .. } if self.is_review => return,
            _ => {}
        }
        self.extend(item::lines(ended));
    }

    /// The turn has ended, or is followed no more.
    pub fn end_turn(&mut self) {
        let last = self.message.end();
        self.extend(last);
        self.activity.clear();
        self.output.clear();
        self.streamed.clear();
        self.patches.clear();
        self.is_review = false;
    }

    /// The changes of a patch that has begun.
    pub fn changes(&self, patch: &str) -> &[FileUpdateChange] {
        self.patches
            .get(patch)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// What a resumed conversation had: its last turns, or after a lost connection the one that was cut off.
    pub fn show_turns(&mut self, turns: &[Turn], is_known: bool) {
        let most = if is_known { 1 } else { TURNS };
        let hidden = turns.len().saturating_sub(most);
        if hidden > 0 && !is_known {
            self.print(Line::dim(format!("… {hidden} earlier turns")));
        }
        for turn in &turns[hidden..] {
            let is_exit = |it: &ThreadItem| matches!(it, ThreadItem::ExitedReviewMode { .. });
            let is_review = turn.items.iter().any(is_exit);
            let is_task = |it: &ThreadItem| matches!(it, ThreadItem::UserMessage { .. });
            let shown = turn.items.iter().filter(|it| !is_review || !is_task(it));
            self.extend(shown.flat_map(item::lines).collect::<Vec<_>>());
        }
    }

    /// What is being written, below the scrollback.
    pub fn live(&self, columns: usize) -> Vec<Line> {
        let tail = self
            .message
            .tail()
            .map(|it| wrap(&it, columns))
            .unwrap_or_default();
        let hidden = tail.len().saturating_sub(TAIL_ROWS);
        let mut lines: Vec<_> = tail.into_iter().skip(hidden).collect();
        let output: Vec<_> = self.output.lines().collect();
        let shown = output.iter().skip(output.len().saturating_sub(OUTPUT_ROWS));
        lines.extend(shown.map(|it| Line::dim(cut(&format!("  {it}"), columns))));
        lines
    }
}
