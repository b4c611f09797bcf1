//! Reads the beginning of a rollout: as much as a list of threads shows, and no more.

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;

use quipu_wire::Json;
use serde::Deserialize;
use uuid::Uuid;

use crate::backend::RolloutSource;
use crate::chain::{Chain, FromStart};
use crate::error::Result;
use crate::event::{Event, ItemCompleted, TurnItem, UserMessage};
use crate::layout::RolloutName;
use crate::query::Summary;
use crate::reader::{RawRecord, Warnings, read_records};
use crate::session::{GitInfo, HistoryBase, Source, SubAgent};
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

/// What lists show of a rollout, as a database keeps it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// The thread.
    pub thread: Uuid,
    /// When it began, in seconds since the epoch.
    pub created_at: Option<i64>,
    /// See [`Source::kind`].
    pub kind: String,
    /// The source as JSON.
    pub source: String,
    /// The provider it began with.
    pub provider: Option<String>,
    /// The directory it began in.
    pub cwd: String,
    /// What the user said first; none if nothing was said so far, so that there is nothing to list.
    pub preview: Option<String>,
    /// The version of the program that made it.
    pub version: String,
    /// The display name of a spawned agent.
    pub nickname: Option<String>,
    /// The role of a spawned agent.
    pub role: Option<String>,
    /// The repository as JSON.
    pub git: Option<String>,
}

impl Listing {
    /// What the beginning of a rollout says.
    pub fn read(lines: impl Read, name: Option<RolloutName>) -> io::Result<Self> {
        Ok(Self::of_head(&Head::of(lines)?, name))
    }

    pub(crate) fn of_head(head: &Head, name: Option<RolloutName>) -> Self {
        let preview = head.preview.clone();
        let named = Self {
            thread: name.map(|name| name.id).unwrap_or_default(),
            created_at: name.map(|name| name.created.and_utc().timestamp()),
            kind: Source::default().kind(),
            source: json(&Source::default()),
            preview,
            ..Self::default()
        };
        let Some(meta) = &head.meta else {
            return named;
        };
        let spawn = match &meta.source {
            Source::SubAgent(SubAgent::ThreadSpawn(spawn)) => Some(spawn),
            _ => None,
        };
        let nickname = || spawn?.agent_nickname.clone();
        let role = || spawn?.agent_role.clone();
        let git = meta.git.as_ref().filter(|git| !git.is_empty());
        Self {
            thread: meta.id,
            created_at: meta.created_at().or(named.created_at),
            kind: meta.source.kind(),
            source: json(&meta.source),
            provider: meta.model_provider.clone(),
            cwd: meta.cwd.clone(),
            version: meta.cli_version.clone(),
            nickname: meta.agent_nickname.clone().or_else(nickname),
            role: meta.agent_role.clone().or_else(role),
            git: git.map(json),
            ..named
        }
    }
}

fn json<T: serde::Serialize>(value: &T) -> String {
    Json::new(value).unwrap_or_default().get().to_owned()
}

impl Summary {
    /// What a rollout says of its thread by itself, wherever it lies, and when it began as it is written
    /// there. Nothing if it does not say whose it is.
    pub(crate) fn of_rollout(
        source: Box<dyn RolloutSource>,
        path: &Path,
    ) -> io::Result<Option<(Summary, String)>> {
        let modified = source.modified()?;
        let head = Head::of(FromStart::new(&*source))?;
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

    /// Looks for what was said first in the rollouts that this one begins with, where that counts: what was said first
    /// in a thread that goes on in a new rollout was said before; a fork is known by its own first words, if it has
    /// any.
    pub fn complete(mut self, path: &Path, chain: impl FnOnce() -> Result<Chain>) -> Self {
        let meta = self.meta.as_ref();
        let has_base = meta.is_some_and(|meta| meta.history_base.is_some());
        let is_segment = RolloutName::of(path).is_some_and(|name| name.segment.is_some());
        if has_base
            && (is_segment || self.preview.is_none())
            && let Ok(chain) = chain()
            && let Ok(whole) = Self::of(chain)
        {
            self.preview = whole.preview;
        }
        self
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
