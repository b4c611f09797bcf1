//! Compaction: the model writes a summary, which takes the place of the history, or the provider makes a shorter
//! history itself.

use quipu_wire::{ContextCompactedNotification, ServerNotification, ThreadItem, TurnError};

use super::hooks::Intake;
use super::items::{Items, Writer};
use super::{Next, Progress, Turn, TurnKind, Work};
use crate::effect::{Effect, Purpose, Record, Summary};
use crate::ids::{ItemId, SampleId, TurnId};
use crate::input::{Compacted, ModelEvent, ModelItem};
use crate::shared::Shared;

/// A compaction under way.
#[derive(Debug, Clone, PartialEq)]
pub struct Compaction {
    item_id: ItemId,
    /// The request for the summary; `None` once the summary is complete and the driver makes a history out of it.
    sample: Option<SampleId>,
    summary: String,
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
    /// Has the history compacted.
    pub(super) fn compact(&mut self, when: When, shared: &mut Shared) -> Progress {
        self.effort.count_request()?;
        let compaction = Compaction::start(when, self.transcript.items(), &self.id, shared);
        self.work = Some(Work::Compaction(compaction));
        Ok(Next::Wait)
    }

    /// Takes the new history, and goes on with it.
    pub fn compacted(
        &mut self,
        turn_id: &TurnId,
        compacted: Compacted,
        shared: &mut Shared,
    ) -> Progress {
        let is_current = self.id == *turn_id;
        let is_awaited = |work: &mut Work| {
            is_current && matches!(work, Work::Compaction(it) if it.sample.is_none())
        };
        let Some(Work::Compaction(compaction)) = self.work.take_if(is_awaited) else {
            // Of an earlier turn, or a second time.
            return Ok(Next::Wait);
        };
        let when = compaction.when;
        self.effort.compacted();
        compaction.finish(compacted, self.transcript.items(), &self.id, shared);
        match (self.kind, when) {
            (TurnKind::Compact, _) => Ok(Next::Proceed),
            (_, When::MidTurn) => self.take_input(Intake::default(), shared),
            (_, When::BeforeInput) => self.build_context(shared),
        }
    }
}

impl Compaction {
    /// Asks the model for a summary of the history.
    fn start(when: When, items: &mut Items, turn_id: &TurnId, shared: &mut Shared) -> Self {
        let mut compaction = Self {
            item_id: items.claim(&shared.sequence.next_item()),
            sample: None,
            summary: String::new(),
            dropped: 0,
            when,
        };
        let item = ThreadItem::ContextCompaction {
            id: compaction.item_id.clone().into(),
        };
        items.start(item, Writer::Other, &mut shared.out.of_turn(turn_id));
        compaction.ask(turn_id, shared);
        compaction
    }

    fn ask(&mut self, turn_id: &TurnId, shared: &mut Shared) {
        let sample = shared.sequence.next_sample();
        self.sample = Some(sample);
        shared.out.emit(Effect::Sample {
            sample,
            turn_id: turn_id.clone(),
            purpose: Purpose::Compaction {
                dropped: self.dropped,
            },
        });
    }

    /// The request to the model that is under way.
    pub fn sample(&self) -> Option<SampleId> {
        self.sample
    }

    /// Takes an event of the request: the text is collected, and none of it is shown.
    pub fn event(
        &mut self,
        event: ModelEvent,
        turn_id: &TurnId,
        shared: &mut Shared,
    ) -> Result<(), TurnError> {
        match event {
            ModelEvent::RateLimits(limits) => {
                shared.usage.update_limits(*limits);
                shared.notify_usage(turn_id);
            }
            ModelEvent::ItemDone { item, .. } => {
                if let ModelItem::Message {
                    text: Some(text), ..
                } = item.item
                {
                    self.summary.push_str(&text);
                }
            }
            ModelEvent::Retrying { error } => {
                self.summary.clear();
                if let Some(error) = error {
                    shared.out.of_turn(turn_id).error(error, true);
                }
            }
            ModelEvent::Completed { usage, .. } => {
                shared.count_usage(usage, turn_id);
                self.replace(Summary::Text(self.summary.clone()), turn_id, shared);
            }
            ModelEvent::Compacted { items } => {
                self.replace(Summary::Items(items), turn_id, shared);
            }
            ModelEvent::Failed {
                error,
                window_exceeded,
            } => {
                if !window_exceeded {
                    return Err(error);
                }
                return self.ask_for_less(error, turn_id, shared);
            }
            _ => {}
        }
        Ok(())
    }

    /// The request is over: has the new history made.
    fn replace(&mut self, summary: Summary, turn_id: &TurnId, shared: &mut Shared) {
        self.sample = None;
        shared.out.emit(Effect::Summarise {
            turn_id: turn_id.clone(),
            summary,
            mid_turn: self.when == When::MidTurn,
        });
    }

    /// Asks again without the oldest items of a history that is too long to be summarised. Twice as many are left
    /// out every time, so that a long history takes few tries.
    fn ask_for_less(
        &mut self,
        error: TurnError,
        turn_id: &TurnId,
        shared: &mut Shared,
    ) -> Result<(), TurnError> {
        let most = shared.history.items().len().saturating_sub(1);
        if self.dropped >= most {
            return Err(error);
        }
        self.summary.clear();
        self.dropped = (self.dropped * 2).clamp(1, most);
        self.ask(turn_id, shared);
        Ok(())
    }

    /// Replaces the history, and shows that.
    fn finish(self, compacted: Compacted, items: &mut Items, id: &TurnId, shared: &mut Shared) {
        shared.out.record(Record::Compacted {
            summary: self.summary,
            history: compacted.history.clone(),
        });
        if let Some(record) = compacted.record {
            shared.out.record(Record::TurnContext(record));
        }
        shared.replace_history(compacted.history, compacted.tokens);
        shared.publish_usage(id);
        let mut out = shared.out.of_turn(id);
        let item = ThreadItem::ContextCompaction {
            id: self.item_id.into(),
        };
        items.finish(item, &mut out);
        let (thread_id, turn_id) = out.ids();
        let params = ContextCompactedNotification { thread_id, turn_id };
        out.notify(ServerNotification::ThreadCompacted(params));
    }
}
