//! What the turns of a thread share.

use quipu_wire::{
    AccountRateLimitsUpdatedNotification, Json, ServerNotification,
    ThreadStatusChangedNotification, TokenUsageBreakdown,
};

use crate::background::Background;
use crate::effect::{Effect, Record};
use crate::history::History;
use crate::ids::TurnId;
use crate::out::Out;
use crate::questions::Questions;
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
    pub questions: Questions,
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
    /// Another process goes on with the thread where the model would be asked next.
    pub hands_over: bool,
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

    /// Adds what a response used, if the provider said it.
    pub fn count_usage(&mut self, usage: Option<TokenUsageBreakdown>, turn_id: &TurnId) {
        if let Some(usage) = usage {
            self.history.set_counted(usage.total_tokens);
            self.usage.add(usage, self.settings.window);
        }
        self.publish_usage(turn_id);
    }

    /// The history has filled the model's window.
    pub fn fill_window(&mut self, window: i64, turn_id: &TurnId) {
        self.usage.fill(window);
        self.history.set_counted(window);
        self.publish_usage(turn_id);
    }

    /// Records the usage, and notifies of it.
    pub fn publish_usage(&mut self, turn_id: &TurnId) {
        self.out.record(Record::TokenUsage {
            usage: self.usage.tokens().cloned(),
            rate_limits: self.usage.rate_limits().clone(),
        });
        self.notify_usage(turn_id);
    }

    /// Notifies of the tokens used, if any are known, and of the rate limits.
    pub fn notify_usage(&mut self, turn_id: &TurnId) {
        if let Some(token_usage) = self.usage.tokens().cloned() {
            self.out.of_turn(turn_id).token_usage(token_usage);
        }
        let rate_limits = self.usage.rate_limits().clone();
        let params = AccountRateLimitsUpdatedNotification { rate_limits };
        let notification = ServerNotification::AccountRateLimitsUpdated(params);
        self.out.notify(notification);
    }

    /// Notifies every client of the status, if it has changed.
    pub fn notify_status(&mut self) {
        if let Some(status) = self.status.take_change(&self.questions) {
            let thread_id = self.out.thread_id().clone().into();
            let params = ThreadStatusChangedNotification { thread_id, status };
            let notification = ServerNotification::ThreadStatusChanged(params);
            self.out.emit(Effect::Broadcast(notification));
        }
    }
}
