//! A list to choose from: threads, models, files, commands.

use crate::style::{Line, Look};
use crate::wrap::cut;

/// Entries that are shown at once.
const SHOWN: usize = 8;

/// What choosing an entry does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pick {
    Thread(String),
    Model(String),
    /// Replaces the text from this position up to the cursor.
    Text {
        from: usize,
        with: String,
    },
}

#[derive(Debug)]
pub struct Menu {
    title: String,
    entries: Vec<(String, Pick)>,
    chosen: usize,
    /// A menu for completion goes away by itself; a picker waits for an answer.
    pub is_completion: bool,
}

impl Menu {
    /// Nothing if there is nothing to choose.
    pub fn new(title: &str, entries: Vec<(String, Pick)>, is_completion: bool) -> Option<Menu> {
        (!entries.is_empty()).then(|| Menu {
            title: title.to_owned(),
            entries,
            chosen: 0,
            is_completion,
        })
    }

    pub fn up(&mut self) {
        self.chosen = self.chosen.checked_sub(1).unwrap_or(self.entries.len() - 1);
    }

    pub fn down(&mut self) {
        self.chosen = (self.chosen + 1) % self.entries.len();
    }

    pub fn pick(self) -> Pick {
        let Menu {
            mut entries,
            chosen,
            ..
        } = self;
        entries.swap_remove(chosen).1
    }

    /// The entries around the chosen one, which a mark shows without colour too.
    pub fn lines(&self, columns: usize) -> Vec<Line> {
        let first = self
            .chosen
            .saturating_sub(SHOWN / 2)
            .min(self.entries.len().saturating_sub(SHOWN));
        let mut lines = Vec::new();
        if !self.title.is_empty() {
            let count = format!(
                "{} ({} of {})",
                self.title,
                self.chosen + 1,
                self.entries.len()
            );
            lines.push(Line::dim(cut(&count, columns)));
        }
        for (index, (name, _)) in self.entries.iter().enumerate().skip(first).take(SHOWN) {
            let is_chosen = index == self.chosen;
            let (mark, look) = if is_chosen {
                ("> ", Look::Bold)
            } else {
                ("  ", Look::Plain)
            };
            lines.push(Line::new(cut(&format!("{mark}{name}"), columns), look));
        }
        lines
    }
}
