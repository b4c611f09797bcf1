//! What a turn did, collected where events arrive and not where they are read: a result is complete
//! however slowly its owner reads the stream.

use std::collections::HashMap;
use std::mem;

use parking_lot::Mutex;
use quipu_wire::{ServerNotification, ThreadItem, ThreadTokenUsage, Turn, TurnStatus};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::event::Event;
use crate::scope::{Place, Scope};
use crate::{Cause, CompletedTurn};

/// Items that are kept of one turn.
const MOST_ITEMS: usize = 10_000;
/// The size of the items that are kept of one turn, as they came.
const MOST_BYTES: usize = 256 << 20;

/// The notifications that a record is made of; the others only show that the turn lives.
const RECORDED: [&str; 4] = [
    "item/completed",
    "thread/tokenUsage/updated",
    "turn/completed",
    "turn/diff/updated",
];

/// Watches one turn, or all that may turn out to be the one that was just asked for.
#[derive(Debug)]
pub(crate) struct Recorder {
    state: Mutex<State>,
    /// The turn or the connection ended.
    ended: Notify,
}

#[derive(Debug)]
struct State {
    scope: Scope,
    records: HashMap<(String, String), Record>,
    heard: Instant,
    /// A turn ended without being named, which can only be the one that is watched.
    unnamed_end: bool,
    closed: Option<Cause>,
}

/// What is known of a turn.
#[derive(Debug, Default)]
struct Record {
    items: Vec<(usize, ThreadItem)>,
    bytes: usize,
    missed: u64,
    diff: Option<String>,
    usage: Option<ThreadTokenUsage>,
    turn: Option<Turn>,
}

impl Recorder {
    pub fn new(scope: Scope) -> Recorder {
        Recorder {
            state: Mutex::new(State {
                scope,
                records: HashMap::new(),
                heard: Instant::now(),
                unnamed_end: false,
                closed: None,
            }),
            ended: Notify::new(),
        }
    }

    pub fn wants(&self, place: Place<'_>) -> bool {
        self.state.lock().scope.covers(place)
    }

    /// Whether a notification belongs into a record.
    pub fn records(method: &str) -> bool {
        RECORDED.contains(&method)
    }

    /// Something was heard of the turn.
    pub fn touch(&self) {
        self.state.lock().heard = Instant::now();
    }

    /// A question about a thread was answered, so its turns may go on.
    pub fn touch_thread(&self, id: &str) {
        let mut state = self.state.lock();
        if state.scope.thread().is_none_or(|thread| thread == id) {
            state.heard = Instant::now();
        }
    }

    pub fn note(&self, event: &Event, size: usize, place: Place<'_>) {
        let (Event::Notification(notification), Some(thread), Some(turn)) =
            (event, place.thread, place.turn)
        else {
            return;
        };
        let mut state = self.state.lock();
        let record = state
            .records
            .entry((thread.to_owned(), turn.to_owned()))
            .or_default();
        record.note(notification, size);
        let has_ended = record.turn.is_some();
        drop(state);
        if has_ended {
            self.ended.notify_waiters();
        }
    }

    /// Keeps only one turn from now on, once it is known which.
    pub fn narrow(&self, scope: &Scope) {
        let mut state = self.state.lock();
        state.scope = scope.clone();
        state.records.retain(|(thread, turn), _| {
            scope.covers(Place {
                thread: Some(thread),
                turn: Some(turn),
            })
        });
    }

    pub fn close(&self, cause: &Cause) {
        self.state.lock().closed = Some(cause.clone());
        self.ended.notify_waiters();
    }

    pub fn heard(&self) -> Instant {
        self.state.lock().heard
    }

    /// A turn ended, and the server did not say which.
    pub fn end_unnamed(&self) {
        self.state.lock().unnamed_end = true;
        self.ended.notify_waiters();
    }

    /// Waits for the end of the turn that the scope was narrowed to; `turn` is how it began.
    pub async fn ending(&self, turn: &Turn) -> Result<CompletedTurn, Cause> {
        loop {
            let ended = self.ended.notified();
            tokio::pin!(ended);
            ended.as_mut().enable();
            if let Some(ending) = self.try_ending(turn) {
                return ending;
            }
            ended.await;
        }
    }

    fn try_ending(&self, begun: &Turn) -> Option<Result<CompletedTurn, Cause>> {
        let mut state = self.state.lock();
        let record = state.records.values_mut().next();
        if let Some(record) = record.filter(|record| record.turn.is_some()) {
            let turn = record.turn.take()?;
            return Some(Ok(mem::take(record).complete(turn)));
        }
        if state.unnamed_end {
            let record = state.records.values_mut().next().map(mem::take);
            let turn = Turn {
                status: TurnStatus::Completed,
                ..begun.clone()
            };
            return Some(Ok(record.unwrap_or_default().complete(turn)));
        }
        state.closed.clone().map(Err)
    }

    /// What is known of the turn so far; `turn` stands for what its end would have said.
    pub fn so_far(&self, turn: Turn) -> CompletedTurn {
        let record = self.state.lock().records.values_mut().next().map(mem::take);
        record.unwrap_or_default().complete(turn)
    }
}

impl Record {
    fn note(&mut self, notification: &ServerNotification, size: usize) {
        match notification {
            ServerNotification::ItemCompleted(it) => {
                self.items.push((size, it.item.clone()));
                self.bytes += size;
                self.shed();
            }
            ServerNotification::TurnDiffUpdated(it) => self.diff = Some(it.diff.clone()),
            ServerNotification::ThreadTokenUsageUpdated(it) => {
                self.usage = Some(it.token_usage.clone());
            }
            ServerNotification::TurnCompleted(it) => self.turn = Some(it.turn.clone()),
            _ => {}
        }
    }

    /// Drops the oldest items beyond the limits, but never the last one.
    fn shed(&mut self) {
        let mut lost = 0;
        while self.items.len() - lost > 1
            && (self.items.len() - lost > MOST_ITEMS || self.bytes > MOST_BYTES)
        {
            self.bytes -= self.items[lost].0;
            lost += 1;
        }
        self.items.drain(..lost);
        self.missed += lost as u64;
    }

    fn complete(self, turn: Turn) -> CompletedTurn {
        let items: Vec<_> = self.items.into_iter().map(|(_, item)| item).collect();
        CompletedTurn::new(turn, items, self.missed, self.diff, self.usage)
    }
}
