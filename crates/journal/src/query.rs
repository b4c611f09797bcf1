//! What callers ask the store for lists, and what they get.

use std::fmt;
use std::path::PathBuf;

use quipu_wire::{ThreadSortKey, ThreadSourceKind};
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::session::{GitInfo, Source};
use crate::time;

/// The custom sources that count as interactive.
const INTERACTIVE_CUSTOM: [&str; 2] = ["atlas", "chatgpt"];

/// Which threads to list.
#[derive(Debug, Clone)]
pub struct Query {
    /// The last thread of the page before.
    pub after: Option<Cursor>,
    /// How many at most; at least one.
    pub limit: usize,
    /// What the list is ordered by.
    pub sort: ThreadSortKey,
    /// The oldest first, instead of the newest.
    pub ascending: bool,
    /// Only threads of these providers, and those that name none; `None` is all.
    pub providers: Option<Vec<String>>,
    /// Only threads of these sources; empty is the interactive ones.
    pub sources: Vec<ThreadSourceKind>,
    /// Archived threads, instead of live ones.
    pub archived: bool,
    /// Only threads that began in exactly one of these directories; `None` is all.
    pub cwds: Option<Vec<String>>,
    /// Only these threads; `None` is all.
    pub only: Option<Vec<Uuid>>,
    /// Threads that are left out.
    pub excluded: Vec<Uuid>,
    /// Only threads whose preview contains this text.
    pub search: Option<String>,
}

impl Default for Query {
    fn default() -> Self {
        Self {
            after: None,
            limit: 25,
            sort: ThreadSortKey::CreatedAt,
            ascending: false,
            providers: None,
            sources: Vec::new(),
            archived: false,
            cwds: None,
            only: None,
            excluded: Vec::new(),
            search: None,
        }
    }
}

impl Query {
    /// Whether the list is ordered by when threads changed, rather than by when they were made.
    pub fn by_change(&self) -> bool {
        matches!(
            self.sort,
            ThreadSortKey::UpdatedAt | ThreadSortKey::RecencyAt
        )
    }

    /// What the list is ordered by.
    pub fn key(&self, thread: &Summary) -> i64 {
        match self.by_change() {
            true => thread.updated_at,
            false => thread.created_at,
        }
    }

    /// The values of [`Source::kind`] that match.
    pub fn kinds(&self) -> Vec<String> {
        if self.sources.is_empty() {
            let custom = INTERACTIVE_CUSTOM
                .iter()
                .map(|name| format!("custom:{name}"));
            return ["cli".to_owned(), "vscode".to_owned()]
                .into_iter()
                .chain(custom)
                .collect();
        }
        let words = self.sources.iter().flat_map(|kind| -> &[&str] {
            match kind {
                ThreadSourceKind::Cli => &["cli"],
                ThreadSourceKind::Vscode => &["vscode"],
                ThreadSourceKind::Exec => &["exec"],
                ThreadSourceKind::AppServer => &["appServer"],
                ThreadSourceKind::SubAgent => &[
                    "subAgentReview",
                    "subAgentCompact",
                    "subAgentThreadSpawn",
                    "subAgentMemoryConsolidation",
                    "subAgentOther",
                ],
                ThreadSourceKind::SubAgentReview => &["subAgentReview"],
                ThreadSourceKind::SubAgentCompact => &["subAgentCompact"],
                ThreadSourceKind::SubAgentThreadSpawn => &["subAgentThreadSpawn"],
                ThreadSourceKind::SubAgentOther => &["subAgentOther"],
                ThreadSourceKind::Unknown => &["unknown"],
            }
        });
        words.map(|&word| word.to_owned()).collect()
    }
}

/// The place in a list after which the next page begins, in the official form
/// `<time>|<thread id>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// The sort key of the last thread seen, in seconds since the epoch.
    pub secs: i64,
    /// Its id.
    pub id: Uuid,
}

impl Cursor {
    /// Reads a cursor of this program or the official one.
    pub fn parse(text: &str) -> Result<Self> {
        let read = || {
            let (time, id) = text.split_once('|')?;
            let named = || Some(time::parse_name_stamp(time)?.and_utc().timestamp());
            let secs = time::parse_stamp(time).or_else(named)?;
            Some(Self {
                secs,
                id: Uuid::try_parse(id).ok()?,
            })
        };
        read().ok_or_else(|| Error::InvalidCursor(text.to_owned()))
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}|{}", time::stamp_secs(self.secs), self.id)
    }
}

/// A part of a list.
#[derive(Debug, Clone)]
pub struct Page {
    /// The threads, in order.
    pub threads: Vec<Summary>,
    /// Where the next page begins; none if this is the last.
    pub next: Option<Cursor>,
}

/// What is known of a thread without reading all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The thread.
    pub id: Uuid,
    /// Its rollout.
    pub path: PathBuf,
    /// Whether it is archived.
    pub archived: bool,
    /// When it began, in seconds since the epoch.
    pub created_at: i64,
    /// When its rollout changed last, in seconds since the epoch.
    pub updated_at: i64,
    /// What the user said first; empty if nothing.
    pub preview: String,
    /// The provider it began with, where it is recorded.
    pub provider: Option<String>,
    /// The directory it began in.
    pub cwd: String,
    /// The version of the program that made it.
    pub cli_version: String,
    /// The kind of program that made it.
    pub source: Source,
    /// The display name of a spawned agent.
    pub agent_nickname: Option<String>,
    /// The role of a spawned agent.
    pub agent_role: Option<String>,
    /// The repository it works in.
    pub git: Option<GitInfo>,
    /// The name the user gave it.
    pub name: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01a1ddfd-a589-77f2-aee6-007c89d39554";

    #[test]
    fn cursors_of_both_forms_are_read_and_one_is_written() {
        let text = format!("2026-11-15T06:55:50Z|{ID}");
        for other in [
            &text,
            &format!("2026-11-15T06-55-50|{ID}"),
            &format!("2026-11-15T07:55:50.9+01:00|{ID}"),
        ] {
            assert_eq!(Cursor::parse(other).unwrap().to_string(), text);
        }
    }

    #[test]
    fn other_cursors_are_refused_by_name() {
        for text in [
            "",
            "x",
            "2026-11-15T06:55:50Z",
            "2026-11-15T06:55:50Z|x",
            &format!("x|{ID}"),
        ] {
            assert_eq!(
                Cursor::parse(text).unwrap_err().to_string(),
                format!("invalid cursor: {text}")
            );
        }
    }
}
