//! Making a long history short: the model writes a summary, and the history begins anew with it.

use quipu_wire::{ContextCompactedNotification, ServerNotification, ThreadItem};

use crate::effect::{Effect, Purpose, Record};
use crate::input::{Compacted, Input, ModelEvent, ModelItem};
use crate::thread::Thread;
use crate::turn::{Sampling, Stopping, Summary, TurnKind};

impl Thread {
    /// A client asks for compaction. A running turn makes room for it.
    pub(crate) fn compact(&mut self, turn_id: String) {
        if self.status.closed {
            return;
        }
        if self.active.is_some() {
            self.postpone(Input::Compact { turn_id });
            return self.stop(Stopping::Replaced);
        }
        self.begin(turn_id, TurnKind::Compact);
        self.begin_summary(false);
    }

    pub(crate) fn is_too_long(&self) -> bool {
        self.compact_at
            .is_some_and(|limit| self.history.tokens() >= limit)
    }

    pub(crate) fn begin_summary(&mut self, mid_turn: bool) {
        self.samples += 1;
        let sample = self.samples;
        let Some(turn) = &mut self.active else { return };
        let turn_id = turn.id.clone();
        let item_id = format!("{turn_id}-compaction-{sample}");
        let summary = Summary {
            item_id: item_id.clone(),
            text: String::new(),
            mid_turn,
        };
        turn.sampling = Some(Sampling {
            sample,
            summary: Some(summary),
        });
        self.open_item(ThreadItem::ContextCompaction { id: item_id }, None);
        self.emit(Effect::Sample {
            sample,
            turn_id,
            purpose: Purpose::Compaction,
        });
    }

    /// The stream of a summary: its text is collected, its usage told, nothing else shown.
    pub(crate) fn summary_event(&mut self, event: ModelEvent) {
        match event {
            ModelEvent::Opened => self.tell_usage(true),
            ModelEvent::RateLimits(limits) => self.usage.rate_limits = *limits,
            ModelEvent::ItemDone { item, .. } => {
                if let ModelItem::Message {
                    text: Some(text), ..
                } = item.item
                    && let Some(summary) = self.summary()
                {
                    summary.text.push_str(&text);
                }
            }
            ModelEvent::Retrying { error } => {
                if let Some(summary) = self.summary() {
                    summary.text.clear();
                }
                self.tell_error(error, true);
            }
            ModelEvent::Completed { usage } => {
                self.count(usage);
                let Some(turn) = &mut self.active else { return };
                let Some(summary) = turn
                    .sampling
                    .as_mut()
                    .and_then(|sampling| sampling.summary.as_mut())
                else {
                    return;
                };
                let (text, mid_turn) = (std::mem::take(&mut summary.text), summary.mid_turn);
                turn.awaiting = true;
                let turn_id = turn.id.clone();
                self.emit(Effect::Summarise {
                    turn_id,
                    summary: text,
                    mid_turn,
                });
            }
            ModelEvent::Failed { error, .. } => {
                if let Some(turn) = &mut self.active {
                    turn.sampling = None;
                }
                self.fail(error);
                self.proceed();
            }
            _ => {}
        }
    }

    fn summary(&mut self) -> Option<&mut Summary> {
        self.active.as_mut()?.sampling.as_mut()?.summary.as_mut()
    }

    pub(crate) fn compacted(&mut self, turn_id: &str, compacted: Compacted) {
        let Some(turn) = self
            .active
            .as_mut()
            .filter(|turn| turn.id == turn_id && turn.awaiting)
        else {
            return;
        };
        turn.awaiting = false;
        let Some(summary) = turn.sampling.take().and_then(|sampling| sampling.summary) else {
            return;
        };
        if turn.stopping != Stopping::No {
            return self.proceed();
        }
        self.record(Record::Compacted {
            summary: summary.text,
            history: compacted.history.clone(),
        });
        if let Some(record) = compacted.record {
            self.record(Record::TurnContext(record));
        }
        self.history.replace(compacted.history, compacted.tokens);
        self.usage.estimate(compacted.tokens, self.window);
        self.record_usage();
        self.tell_usage(false);
        self.finish_item(ThreadItem::ContextCompaction {
            id: summary.item_id,
        });
        let (thread_id, turn_id) = self.ids();
        let params = ContextCompactedNotification { thread_id, turn_id };
        self.notify(ServerNotification::ThreadCompacted(params));
        match self.active.as_ref().map(|turn| turn.kind) {
            Some(TurnKind::Compact) => self.proceed(),
            Some(_) if summary.mid_turn => {
                self.take_pending();
                self.sample(Purpose::Turn);
            }
            _ => self.build_context(),
        }
    }
}
