//! Making a long history short: the model writes a summary, and the history begins anew with it.

use quipu_wire::{
    ContextCompactedNotification, ServerNotification, ThreadItem, TokenUsageBreakdown, TurnError,
};

use crate::effect::{Effect, Purpose, Record};
use crate::hooks::Intake;
use crate::input::{Compacted, Input, ModelEvent, ModelItem};
use crate::items::Writer;
use crate::starting::running;
use crate::thread::Thread;
use crate::turn::{Summary, TurnKind, Work};

impl Thread {
    /// A client asks for compaction. A running turn makes room for it.
    pub(crate) fn compact(&mut self, turn_id: String) {
        if self.active.is_some() {
            return self.replace_turn(Input::Compact { turn_id });
        }
        self.begin(TurnKind::Compact, running(turn_id), None);
        self.begin_summary(false);
    }

    pub(crate) fn is_too_long(&self) -> bool {
        self.compact_at
            .is_some_and(|limit| self.history.tokens() >= limit)
    }

    pub(crate) fn begin_summary(&mut self, mid_turn: bool) {
        if !self.may_ask() {
            return;
        }
        self.samples += 1;
        let sample = self.samples;
        let Some(turn) = &mut self.active else { return };
        let turn_id = turn.id.clone();
        let item_id = turn.items.claim(&self.item_ids.make());
        let summary = Summary {
            item_id: item_id.clone(),
            text: String::new(),
            dropped: 0,
            mid_turn,
        };
        turn.work = Some(Work::Summary { sample, summary });
        self.open_item(ThreadItem::ContextCompaction { id: item_id }, Writer::Other);
        self.emit(Effect::Sample {
            sample,
            turn_id,
            purpose: Purpose::Compaction { dropped: 0 },
        });
    }

    /// The stream of a summary: its text is collected, its usage told, nothing else shown.
    pub(crate) fn summary_event(&mut self, event: ModelEvent) {
        match event {
            ModelEvent::RateLimits(limits) => self.limited(*limits),
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
            ModelEvent::Completed { usage, .. } => self.summary_completed(usage),
            ModelEvent::Failed {
                error,
                window_exceeded,
            } => self.summary_failed(error, window_exceeded),
            _ => {}
        }
    }

    /// A history that is too long to be summarised is tried again without its oldest items. Twice as many
    /// are left out every time, so that a long history takes few tries.
    fn summary_failed(&mut self, error: TurnError, window_exceeded: bool) {
        let most = self.history.items().len().saturating_sub(1);
        let sample = self.samples + 1;
        let Some(turn) = &mut self.active else { return };
        let turn_id = turn.id.clone();
        let dropped = match &mut turn.work {
            Some(Work::Summary {
                sample: current,
                summary,
            }) if window_exceeded && summary.dropped < most => {
                *current = sample;
                summary.text.clear();
                summary.dropped = (summary.dropped * 2).clamp(1, most);
                summary.dropped
            }
            _ => return self.fail(error),
        };
        self.samples = sample;
        self.emit(Effect::Sample {
            sample,
            turn_id,
            purpose: Purpose::Compaction { dropped },
        });
    }

    fn summary(&mut self) -> Option<&mut Summary> {
        match self.active.as_mut()?.work.as_mut()? {
            Work::Summary { summary, .. } => Some(summary),
            _ => None,
        }
    }

    fn summary_completed(&mut self, usage: Option<TokenUsageBreakdown>) {
        self.count(usage);
        let Some(summary) = self.summary().cloned() else {
            return;
        };
        let Some(turn) = &mut self.active else { return };
        let turn_id = turn.id.clone();
        let (text, mid_turn) = (summary.text.clone(), summary.mid_turn);
        turn.work = Some(Work::NewHistory(summary));
        self.emit(Effect::Summarise {
            turn_id,
            summary: text,
            mid_turn,
        });
    }

    pub(crate) fn compacted(&mut self, turn_id: &str, compacted: Compacted) {
        let Some(turn) = self.active.as_mut().filter(|turn| turn.id == turn_id) else {
            return;
        };
        let Some(Work::NewHistory(summary)) = &turn.work else {
            return;
        };
        let summary = summary.clone();
        turn.work = None;
        turn.effort.compacted();
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
        self.tell_usage();
        self.finish_item(ThreadItem::ContextCompaction {
            id: summary.item_id,
        });
        let (thread_id, turn_id) = self.ids();
        let params = ContextCompactedNotification { thread_id, turn_id };
        self.notify(ServerNotification::ThreadCompacted(params));
        match self.active.as_ref().map(|turn| turn.kind) {
            Some(TurnKind::Compact) => self.proceed(),
            Some(_) if summary.mid_turn => self.take_input(Intake::default()),
            _ => self.build_context(),
        }
    }
}
