//! The list of what may exceed a size limit. It is a ratchet: an entry that allows more than is
//! needed fails as surely as a missing one, so debt can only be paid off.

use std::collections::BTreeMap;

use super::Problem;
use crate::tree::{File, Tree};

/// Where the list stands.
const PATH: &str = "crates/xtask/allow.txt";

/// One line of the list.
struct Entry {
    limit: usize,
    line: usize,
}

/// The entries of the list by subject, such as `path` or `path::fn`.
pub struct AllowList<'a> {
    file: Option<&'a File>,
    entries: BTreeMap<&'a str, Entry>,
    malformed: Vec<usize>,
}

impl<'a> AllowList<'a> {
    /// Reads the list; a tree without one allows nothing.
    pub fn read(tree: &'a Tree) -> AllowList<'a> {
        let file = tree.file(PATH);
        let mut list = AllowList {
            file,
            entries: BTreeMap::new(),
            malformed: Vec::new(),
        };
        let lines = file.map_or("", |file| &file.text).lines().zip(1..);
        for (text, line) in lines.filter(|(text, _)| !text.is_empty() && !text.starts_with('#')) {
            match text
                .split_once(' ')
                .map(|(subject, limit)| (subject, limit.parse()))
            {
                Some((subject, Ok(limit))) => {
                    list.entries.insert(subject, Entry { limit, line });
                }
                _ => list.malformed.push(line),
            }
        }
        list
    }

    /// How large `subject` may be when `limit` is the rule.
    pub fn limit(&self, subject: &str, limit: usize) -> usize {
        self.entries.get(subject).map_or(limit, |entry| entry.limit)
    }

    /// Entries that allow more than is needed; `needed` has the size of all that breaks a rule.
    pub fn slack(&self, needed: &BTreeMap<String, usize>) -> Vec<Problem> {
        let Some(file) = self.file else {
            return Vec::new();
        };
        let malformed = self.malformed.iter();
        let mut problems: Vec<Problem> = malformed
            .map(|line| Problem::at(file, *line, "write `subject limit`"))
            .collect();
        for (subject, Entry { limit, line }) in &self.entries {
            let message = match needed.get(*subject) {
                Some(size) if size >= limit => continue,
                Some(size) => format!("allows more than is needed; write `{subject} {size}`"),
                None => format!("no longer needed; remove `{subject} {limit}`"),
            };
            problems.push(Problem::at(file, *line, message));
        }
        problems
    }
}
