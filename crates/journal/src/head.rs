//! Reads the beginning of a rollout: as much as a list of threads shows, and no more.

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;

use serde::Deserialize;
use uuid::Uuid;

use crate::event::{Event, ItemCompleted, TurnItem, UserMessage};
use crate::query::Summary;
use crate::reader::{RawRecord, Warnings, read_records};
use crate::session::{GitInfo, HistoryBase, Source};
use crate::time;

/// How far into a file to look for what the user said first.
const MAX_RECORDS: usize = 2000;
const MAX_BYTES: u64 = 32 << 20;
/// How much of it to keep.
const MAX_PREVIEW: usize = 16 << 10;
/// Editors put their own context before this line of a message.
const REQUEST_MARKER: &str = "## My request for Codex:";
/// Stands for a message without text.
const IMAGE_PREVIEW: &str = "[Image]";

/// What a list shows of a thread.
#[derive(Debug, Default)]
pub(crate) struct Head {
    pub meta: Option<HeadMeta>,
    /// What the user said first, shortened; none if nothing was said, so there is nothing to list.
    pub preview: Option<String>,
}

/// The members of a `session_meta` that lists show.
#[derive(Debug, Deserialize)]
pub(crate) struct HeadMeta {
    pub id: Uuid,
    #[serde(default)]
    timestamp: String,
    #[serde(default)]
    pub cwd: String,
    #[serde(default)]
    pub cli_version: String,
    #[serde(default)]
    pub source: Source,
    #[serde(default)]
    pub agent_nickname: Option<String>,
    #[serde(default)]
    pub agent_role: Option<String>,
    #[serde(default)]
    pub model_provider: Option<String>,
    #[serde(default)]
    pub git: Option<GitInfo>,
    #[serde(default)]
    pub history_base: Option<HistoryBase>,
}

impl HeadMeta {
    /// Seconds since the epoch.
    pub fn created_at(&self) -> Option<i64> {
        time::parse_stamp(&self.timestamp)
    }
}

impl Summary {
    /// What a rollout says of its thread by itself, wherever it lies, and when it began as it is written
    /// there. Nothing if it does not say whose it is.
    pub fn of_file(path: &Path) -> io::Result<Option<(Summary, String)>> {
        let file = quipu_disk::open(path)?;
        let modified = file.metadata()?.modified()?;
        let head = Head::of(file)?;
        let Some(meta) = head.meta else {
            return Ok(None);
        };
        let updated = time::secs(modified);
        let summary = Summary {
            id: meta.id,
            path: path.to_owned(),
            archived: false,
            created_at: meta.created_at().unwrap_or(updated),
            updated_at: updated,
            preview: head.preview.unwrap_or_default(),
            provider: meta.model_provider,
            cwd: meta.cwd,
            cli_version: meta.cli_version,
            source: meta.source,
            agent_nickname: meta.agent_nickname,
            agent_role: meta.agent_role,
            git: meta.git.filter(|git| !git.is_empty()),
            name: None,
        };
        Ok(Some((summary, meta.timestamp)))
    }
}

impl Head {
    pub fn read(path: &Path) -> io::Result<Self> {
        Self::of(quipu_disk::open(path)?)
    }

    /// The head of a rollout that is read from its beginning.
    pub fn of(source: impl Read) -> io::Result<Self> {
        let mut head = Self::default();
        let mut left = MAX_RECORDS;
        read_records(source, &mut Warnings::default(), |record, _| {
            left -= 1;
            let far = left == 0 || record.span.offset > MAX_BYTES;
            if head.take(record).is_break() || far {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })?;
        Ok(head)
    }

    fn take(&mut self, record: RawRecord<'_>) -> ControlFlow<()> {
        match record.kind {
            "session_meta" if self.meta.is_none() => self.meta = record.parse().ok(),
            "event_msg" => {
                if let Some(message) = user_message(record)
                    && self.first_message(&message)
                {
                    return ControlFlow::Break(());
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    /// Takes the message if it says anything.
    fn first_message(&mut self, message: &UserMessage) -> bool {
        let text = match message.message.split_once(REQUEST_MARKER) {
            Some((_, request)) => request,
            None => &message.message,
        };
        let text = shorten(text.trim());
        let images = message.images.iter().flatten().count() + message.local_images.len();
        self.preview = match text {
            "" if images == 0 => None,
            "" => Some(IMAGE_PREVIEW.to_owned()),
            text => Some(text.to_owned()),
        };
        self.preview.is_some()
    }
}

/// What the user said in an event, in whichever form it is stored.
fn user_message(record: RawRecord<'_>) -> Option<UserMessage> {
    match record.tag().ok()? {
        "user_message" => record.parse().ok(),
        "item_completed" => {
            let done: ItemCompleted = record.parse().ok()?;
            let is_message = matches!(done.item, TurnItem::UserMessage(_));
            match is_message.then(|| done.item.into_events("").pop())?? {
                Event::UserMessage(message) => Some(message),
                _ => None,
            }
        }
        _ => None,
    }
}

fn shorten(text: &str) -> &str {
    let mut end = text.len().min(MAX_PREVIEW);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
