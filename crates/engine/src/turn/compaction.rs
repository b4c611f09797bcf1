//! Compaction: the model writes a summary, which takes the place of the history.

use quipu_wire::{
    ContextCompactedNotification, ServerNotification, ThreadItem, TokenUsageBreakdown, TurnError,
};

use super::hooks::Intake;
use super::items::Writer;
use super::{Next, Progress, Turn, TurnKind, Work};
use crate::effect::{Effect, Purpose, Record};
use crate::ids::{ItemId, TurnId};
use crate::input::{Compacted, ModelEvent, ModelItem};
use crate::shared::Shared;

/// A compaction under way.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    item_id: ItemId,
    text: String,
    /// How many of the oldest items are left out, because the history is too long to be summarised whole.
    dropped: usize,
    when: When,
}

/// Where in a turn the history is compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// The context of the turn follows.
    BeforeInput,
    /// The new history must hold the context of the turn.
    MidTurn,
}

impl Turn {
    /// Asks the model for a summary of the history.
    pub(super) fn summarise(&mut self, when: When, shared: &mut Shared) -> Progress {
        self.effort.count_request()?;
        let sample = shared.sequence.next_sample();
        let item_id = self.items.claim(&shared.sequence.next_item());
        let summary = Summary {
            item_id: item_id.clone(),
            text: String::new(),
            dropped: 0,
            when,
        };
        self.work = Some(Work::Summary { sample, summary });
        let item = ThreadItem::ContextCompaction { id: item_id };
        let out = &mut shared.out.of_turn(&self.id);
        self.items.start(item, Writer::Other, out);
        shared.out.emit(Effect::Sample {
            sample,
            turn_id: self.id.clone(),
            purpose: Purpose::Compaction { dropped: 0 },
        });
        Ok(Next::Wait)
    }

    /// Takes an event of the request for a summary. None of the text is shown.
    pub(super) fn summary_event(&mut self, event: ModelEvent, shared: &mut Shared) -> Progress {
        match event {
            ModelEvent::RateLimits(limits) => self.update_limits(*limits, shared),
            ModelEvent::Retrying { error } => shared.out.of_turn(&self.id).error(error, true),
            ModelEvent::Completed { usage, .. } => self.summary_completed(usage, shared),
            ModelEvent::Failed {
                error,
                window_exceeded,
            } => return self.summary_failed(error, window_exceeded, shared),
            _ => {}
        }
        Ok(Next::Wait)
    }

    /// A history that is too long to be summarised is tried again without its oldest items. Twice as many are
    /// left out every time, so that a long history takes few tries.
    fn summary_failed(
        &mut self,
        error: TurnError,
        window_exceeded: bool,
        shared: &mut Shared,
    ) -> Progress {
        let most = shared.history.items().len().saturating_sub(1);
        match self.work.take() {
            Some(Work::Summary { mut summary, .. })
                if window_exceeded && summary.dropped < most =>
            {
                let sample = shared.sequence.next_sample();
                summary.text.clear();
                summary.dropped = (summary.dropped * 2).clamp(1, most);
                shared.out.emit(Effect::Sample {
                    sample,
                    turn_id: self.id.clone(),
                    purpose: Purpose::Compaction {
                        dropped: summary.dropped,
                    },
                });
                self.work = Some(Work::Summary { sample, summary });
                Ok(Next::Wait)
            }
            _ => Err(error),
        }
    }

    fn summary_completed(&mut self, usage: Option<TokenUsageBreakdown>, shared: &mut Shared) {
        self.count_usage(usage, shared);
        if let Some(Work::Summary { summary, .. }) = self.work.take() {
            shared.out.emit(Effect::Summarise {
                turn_id: self.id.clone(),
                summary: summary.text.clone(),
                mid_turn: summary.when == When::MidTurn,
            });
            self.work = Some(Work::NewHistory(summary));
        }
    }

    /// Takes the new history, and goes on with it.
    pub fn compacted(
        &mut self,
        turn_id: &TurnId,
        compacted: Compacted,
        shared: &mut Shared,
    ) -> Progress {
        let is_current = self.id == *turn_id;
        let is_awaited = |work: &mut Work| is_current && matches!(work, Work::NewHistory(_));
        let Some(Work::NewHistory(summary)) = self.work.take_if(is_awaited) else {
            // Of an earlier turn, or a second time.
            return Ok(Next::Wait);
        };
        self.effort.compacted();
        shared.out.record(Record::Compacted {
            summary: summary.text,
            history: compacted.history.clone(),
        });
        if let Some(record) = compacted.record {
            shared.out.record(Record::TurnContext(record));
        }
        shared.replace_history(compacted.history, compacted.tokens);
        shared.record_usage();
        self.notify_usage(shared);
        let mut out = shared.out.of_turn(&self.id);
        let item = ThreadItem::ContextCompaction {
            id: summary.item_id,
        };
        self.items.finish(item, &mut out);
        let (thread_id, turn_id) = out.ids();
        let params = ContextCompactedNotification { thread_id, turn_id };
        out.notify(ServerNotification::ThreadCompacted(params));
        match (self.kind, summary.when) {
            (TurnKind::Compact, _) => Ok(Next::Proceed),
            (_, When::MidTurn) => self.take_input(Intake::default(), shared),
            (_, When::BeforeInput) => self.build_context(shared),
        }
    }
}

impl Summary {
    /// Collects the text of the summary; a request that is made again begins with none.
    pub fn read(&mut self, event: &ModelEvent) {
        match event {
            ModelEvent::ItemDone { item, .. } => {
                if let ModelItem::Message {
                    text: Some(text), ..
                } = &item.item
                {
                    self.text.push_str(text);
                }
            }
            ModelEvent::Retrying { .. } => self.text.clear(),
            _ => {}
        }
    }
}
