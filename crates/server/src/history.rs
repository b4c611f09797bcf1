//! The turns of a thread for requests that read its history in parts, and pages of them. A cursor names the turn or item
//! that it is next to, so that pages stay right while the thread goes on.

use std::sync::Arc;

use quipu_engine::item_id;
use quipu_wire::{SortDirection, ThreadItemEntry, Turn};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::blocking::blocking;
use crate::threads::{self, load};
use crate::{Cx, Refusal, Server};

/// The turns of a stored thread, the running one as it is. `method` is who asks.
pub(crate) async fn turns(cx: &Cx, thread_id: &str, method: &str) -> Result<Vec<Turn>, Refusal> {
    let id = threads::parse_id(thread_id)?;
    let snapshot = match cx.server.threads.get(&id.to_string()) {
        Some(thread) => thread.snapshot().await,
        None => None,
    };
    let Some(snapshot) = snapshot else {
        return blocking(&cx.server, move |server| read_stored(server, id)).await?;
    };
    if snapshot.ephemeral {
        let text = format!("ephemeral threads do not support {method}");
        return Err(Refusal::invalid_request(text));
    }
    let Some(rollout) = snapshot.rollout else {
        return Ok(Vec::new());
    };
    let live = snapshot.live;
    let is_running = live.is_some();
    let read = move |server: &Arc<Server>| load::turns(server, &rollout, is_running);
    let mut turns = blocking(&cx.server, read).await??;
    if let Some(live) = live {
        turns.retain(|turn| turn.id != live.id);
        turns.push(live);
    }
    Ok(turns)
}

fn read_stored(server: &Server, id: Uuid) -> Result<Vec<Turn>, Refusal> {
    let path = match load::find(server, id) {
        Ok(path) => path,
        Err(_) => {
            let archived = server.store.find_archived(id).ok().flatten();
            archived.ok_or(Refusal::ThreadNotLoaded(id))?
        }
    };
    load::turns(server, &path, false)
}

/// The items of turns, in their order.
pub(crate) fn entries(turns: Vec<Turn>) -> Vec<ThreadItemEntry> {
    let of_turn = |turn: Turn| {
        let turn_id = turn.id;
        turn.items.into_iter().map(move |item| ThreadItemEntry {
            turn_id: turn_id.clone(),
            item,
            started_at_ms: None,
            completed_at_ms: None,
        })
    };
    turns.into_iter().flat_map(of_turn).collect()
}

/// What pages are made of.
pub(crate) trait Entry {
    /// What a cursor calls it; unique in its thread.
    fn key(&self) -> Key;
}

impl Entry for Turn {
    fn key(&self) -> Key {
        Key {
            turn_id: self.id.clone(),
            item_id: None,
        }
    }
}

impl Entry for ThreadItemEntry {
    fn key(&self) -> Key {
        Key {
            turn_id: self.turn_id.clone(),
            item_id: Some(item_id(&self.item).to_owned()),
        }
    }
}

/// A turn, or an item of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Key {
    pub turn_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_id: Option<String>,
}

/// The place between two entries at which a page begins, as clients pass it on.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Cursor {
    thread_id: String,
    #[serde(flatten)]
    pub key: Key,
    /// Whether the page begins with this entry, and not with the one after it.
    pub include_anchor: bool,
}

impl Cursor {
    /// A cursor whose page begins with an entry.
    pub fn at(thread_id: &str, key: Key) -> Cursor {
        Cursor {
            thread_id: thread_id.to_owned(),
            key,
            include_anchor: true,
        }
    }

    /// A cursor whose page begins after an entry.
    pub fn after(thread_id: &str, key: Key) -> Cursor {
        Cursor {
            include_anchor: false,
            ..Cursor::at(thread_id, key)
        }
    }

    /// Reads a cursor of the thread.
    pub fn parse(text: &str, thread_id: &str) -> Result<Cursor, Refusal> {
        let cursor: Option<Cursor> = serde_json::from_str(text).ok();
        let cursor = cursor.filter(|it| it.thread_id == thread_id);
        cursor.ok_or_else(|| Refusal::InvalidCursor(text.to_owned()))
    }

    pub fn text(&self) -> String {
        // Strings can always be written.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Which page is wanted.
pub(crate) struct Wanted<'a> {
    pub thread_id: &'a str,
    pub cursor: Option<Cursor>,
    pub limit: Option<u32>,
    pub direction: SortDirection,
}

/// A page and the cursors around it.
pub(crate) struct Page<T> {
    pub data: Vec<T>,
    pub next_cursor: Option<String>,
    pub backwards_cursor: Option<String>,
}

/// One page of entries that are given with the oldest first.
pub(crate) fn page<T: Entry>(mut entries: Vec<T>, wanted: &Wanted<'_>) -> Result<Page<T>, Refusal> {
    if wanted.direction == SortDirection::Desc {
        entries.reverse();
    }
    let start = match &wanted.cursor {
        None => 0,
        Some(cursor) => {
            let found = entries.iter().position(|it| it.key() == cursor.key);
            let gone = || Refusal::InvalidCursor(cursor.text());
            found.ok_or_else(gone)? + usize::from(!cursor.include_anchor)
        }
    };
    let limit = wanted.limit.map_or(25, |limit| limit.clamp(1, 100)) as usize;
    let has_more = entries.len() > start + limit;
    let data: Vec<T> = entries.into_iter().skip(start).take(limit).collect();
    let next = data.last().filter(|_| has_more);
    let next = next.map(|it| Cursor::after(wanted.thread_id, it.key()).text());
    let backwards = data.first();
    let backwards = backwards.map(|it| Cursor::at(wanted.thread_id, it.key()).text());
    Ok(Page {
        data,
        next_cursor: next,
        backwards_cursor: backwards,
    })
}
