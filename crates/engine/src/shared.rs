//! What the turns of a thread share.

use quipu_wire::{Json, ServerNotification, ThreadStatusChangedNotification};

use crate::background::Background;
use crate::effect::{Effect, Record};
use crate::history::History;
use crate::out::Out;
use crate::sequence::Sequence;
use crate::status::Status;
use crate::usage::Usage;

/// Everything in a thread that outlives its turns.
#[derive(Debug, Clone, PartialEq)]
pub struct Shared {
    pub out: Out,
    pub history: History,
    pub usage: Usage,
    pub status: Status,
    pub background: Background,
    pub sequence: Sequence,
    pub settings: Settings,
    /// The hooks of the session's start have not run yet.
    pub is_session_new: bool,
}

/// What the driver sets.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Clients also see the items exactly as the model made them.
    pub raw_items: bool,
    /// The user has hooks.
    pub hooks: bool,
    /// What the model's history says after an interrupted turn.
    pub interrupt_note: Option<Json>,
    /// Tokens the model can work with.
    pub window: Option<i64>,
    /// The size from which the history is compacted, in tokens.
    pub compact_at: Option<i64>,
}

impl Shared {
    /// Adds to the model's history, and to the log.
    pub fn remember(&mut self, item: Json) {
        self.out.record(Record::History(item.clone()));
        self.history.push(item);
    }

    /// Replaces the model's history by one of about this size.
    pub fn replace_history(&mut self, items: Vec<Json>, tokens: i64) {
        self.history.replace(items, tokens);
        self.usage.estimate(tokens, self.settings.window);
    }

    /// Whether the history must be compacted before the model is asked again.
    pub fn is_history_too_long(&self) -> bool {
        let limit = self.settings.compact_at;
        limit.is_some_and(|limit| self.history.tokens() >= limit)
    }

    pub fn record_usage(&mut self) {
        self.out.record(Record::TokenUsage {
            usage: self.usage.tokens().cloned(),
            rate_limits: self.usage.rate_limits().clone(),
        });
    }

    /// Notifies every client of the status, if it has changed.
    pub fn notify_status(&mut self) {
        if let Some(status) = self.status.take_change() {
            let thread_id = self.out.thread_id().clone();
            let params = ThreadStatusChangedNotification { thread_id, status };
            let notification = ServerNotification::ThreadStatusChanged(params);
            self.out.emit(Effect::Broadcast(notification));
        }
    }
}
