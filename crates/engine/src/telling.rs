//! What a thread says: to its log, to its clients, to the model's history.

use quipu_wire::{
    AccountRateLimitsUpdatedNotification, ErrorNotification, ItemCompletedNotification,
    ItemStartedNotification, Json, RawResponseItemCompletedNotification, ServerNotification,
    ThreadItem, ThreadStatusChangedNotification, ThreadTokenUsageUpdatedNotification,
    TurnDiffUpdatedNotification, TurnError,
};

use crate::effect::{Answer, Effect, Record};
use crate::thread::Thread;
use crate::turn::TurnKind;

impl Thread {
    pub(crate) fn emit(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    pub(crate) fn record(&mut self, record: Record) {
        self.emit(Effect::Record(record));
    }

    pub(crate) fn notify(&mut self, notification: ServerNotification) {
        self.emit(Effect::Notify(notification));
    }

    pub(crate) fn answer(&mut self, reply: u64, answer: Answer) {
        self.emit(Effect::Answer { reply, answer });
    }

    /// The ids of the thread and of its running turn.
    pub(crate) fn ids(&self) -> (String, String) {
        (
            self.id.clone(),
            self.active_turn().unwrap_or_default().to_owned(),
        )
    }

    /// Tells the status if it is not the one last told.
    pub(crate) fn tell_status(&mut self) {
        let status = self.status.derive();
        if status != self.told {
            self.told = status.clone();
            let thread_id = self.id.clone();
            let params = ThreadStatusChangedNotification { thread_id, status };
            self.emit(Effect::Broadcast(ServerNotification::ThreadStatusChanged(
                params,
            )));
        }
    }

    /// Adds to the history the model sees, and to the log unless a review keeps it to itself.
    pub(crate) fn remember(&mut self, item: Json) {
        let raw = self.raw_items.then(|| item.parse().ok()).flatten();
        match self.active.as_mut().and_then(|turn| turn.review.as_mut()) {
            Some(review) => review.history.push(item),
            None => {
                self.record(Record::History(item.clone()));
                self.history.push(item);
            }
        }
        if let (Some(item), Some(_)) = (raw, &self.active) {
            let (thread_id, turn_id) = self.ids();
            let params = RawResponseItemCompletedNotification {
                thread_id,
                turn_id,
                item,
            };
            self.notify(ServerNotification::RawResponseItemCompleted(params));
        }
    }

    /// Tells that an item of the running turn began.
    pub(crate) fn show_started(&mut self, item: ThreadItem) {
        let (thread_id, turn_id) = self.ids();
        let params = ItemStartedNotification {
            item,
            thread_id,
            turn_id,
        };
        self.notify(ServerNotification::ItemStarted(params));
    }

    /// Tells that an item of the running turn ended. Whoever calls has recorded it.
    pub(crate) fn show_completed(&mut self, item: ThreadItem) {
        let (thread_id, turn_id) = self.ids();
        let params = ItemCompletedNotification {
            item,
            thread_id,
            turn_id,
        };
        self.notify(ServerNotification::ItemCompleted(params));
    }

    /// Records an item that ended.
    pub(crate) fn record_item(&mut self, turn_id: String, item: ThreadItem) {
        self.record(match item {
            ThreadItem::AgentMessage {
                id: item_id,
                text,
                phase,
                ..
            } => Record::AgentMessage {
                item_id,
                text,
                phase,
            },
            ThreadItem::Reasoning {
                id: item_id,
                summary,
                content,
            } => Record::Reasoning {
                item_id,
                summary,
                content,
            },
            item => Record::Item { turn_id, item },
        });
    }

    pub(crate) fn record_usage(&mut self) {
        let usage = self.usage.tokens().cloned();
        let rate_limits = self.usage.rate_limits.clone();
        self.record(Record::TokenUsage { usage, rate_limits });
    }

    /// Tells the tokens used, if any are known, and the rate limits. A review's are nobody's.
    pub(crate) fn tell_usage(&mut self) {
        let Some(turn) = self
            .active
            .as_ref()
            .filter(|turn| turn.kind != TurnKind::Review)
        else {
            return;
        };
        let (thread_id, turn_id) = (self.id.clone(), turn.id.clone());
        if let Some(token_usage) = self.usage.tokens().cloned() {
            let params = ThreadTokenUsageUpdatedNotification {
                thread_id,
                turn_id,
                token_usage,
            };
            self.notify(ServerNotification::ThreadTokenUsageUpdated(params));
        }
        let rate_limits = self.usage.rate_limits.clone();
        let params = AccountRateLimitsUpdatedNotification { rate_limits };
        self.notify(ServerNotification::AccountRateLimitsUpdated(params));
    }

    pub(crate) fn tell_diff(&mut self) {
        let Some(diff) = self.active.as_ref().and_then(|turn| turn.diff.clone()) else {
            return;
        };
        let (thread_id, turn_id) = self.ids();
        let params = TurnDiffUpdatedNotification {
            thread_id,
            turn_id,
            diff,
        };
        self.notify(ServerNotification::TurnDiffUpdated(params));
    }

    pub(crate) fn tell_error(&mut self, error: TurnError, will_retry: bool) {
        let (thread_id, turn_id) = self.ids();
        let params = ErrorNotification {
            error,
            will_retry,
            thread_id,
            turn_id,
        };
        self.notify(ServerNotification::Error(params));
    }
}
