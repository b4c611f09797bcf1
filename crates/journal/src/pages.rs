//! How records are written to a paginated rollout, so that every program reads them: each line has a number,
//! and a finished item is stored in two forms. Programs that know `item_completed` show that one and pass over
//! the older event; older programs do it the other way round. See [`ordinals`](crate::ordinals) for the
//! numbers, and [`turns`](crate::turns) for how each item is counted once when it is read back.

use std::time::SystemTime;

use quipu_wire::{ThreadItem, Turn, TurnStatus};
use uuid::Uuid;

use crate::event::{
    ErrorEvent, Event, HookItem, ItemCompleted, ReasoningItem, TaskComplete, TurnAborted, TurnItem,
};
use crate::items;
use crate::record::Record;
use crate::session::SessionMeta;
use crate::time;

/// The state of one paginated rollout that is written to.
#[derive(Debug)]
pub(crate) struct Pages {
    thread: Uuid,
    /// The turn that began last.
    turn: String,
    /// Why it failed, if it has.
    failure: Option<ErrorEvent>,
    /// The number of the next line, if nobody else adds any.
    pub next_ordinal: u64,
}

impl Pages {
    /// None for a rollout of the old form.
    pub fn of(meta: &SessionMeta) -> Option<Self> {
        let base = meta.history_base.map(|base| base.end_ordinal_exclusive);
        meta.is_paginated().then(|| Self {
            thread: meta.id,
            turn: String::new(),
            failure: None,
            next_ordinal: base.unwrap_or_default(),
        })
    }

    /// The records with the second form of those that finish an item, which comes first: the form of the
    /// first item of a turn is the one that readers go by.
    pub fn both_forms(&mut self, records: &[Record]) -> Vec<Record> {
        let mut both = Vec::with_capacity(records.len() * 2);
        let mut thoughts = None;
        for (place, record) in records.iter().enumerate() {
            let record = self.follow(record.clone());
            let Some((turn, item)) = self.item(place, &record) else {
                both.push(record);
                continue;
            };
            // The parts of one thought are one item.
            let at = both.len();
            match (&mut thoughts, item) {
                (Some((end, at)), TurnItem::Reasoning(part)) if *end == place => {
                    extend(&mut both[*at], part);
                    *end += 1;
                }
                (_, item) => {
                    thoughts = matches!(item, TurnItem::Reasoning(_)).then_some((place + 1, at));
                    both.push(self.completed(turn, item));
                }
            }
            both.push(record);
        }
        both
    }

    /// A turn that has ended, or was never ended, in the new form alone.
    pub fn of_turn(&self, turn: &Turn) -> Vec<Record> {
        let thread = self.thread.to_string();
        let mut records = Vec::new();
        for item in &turn.items {
            let mut item = item.clone();
            let id = items::id_mut(&mut item).cloned().unwrap_or_default();
            let stored = match item {
                ThreadItem::Reasoning {
                    id,
                    summary: summary_text,
                    content: raw_content,
                } => Some(TurnItem::Reasoning(ReasoningItem {
                    id,
                    summary_text,
                    raw_content,
                })),
                item => Event::of_item(item, &thread, &turn.id)
                    .first()
                    .and_then(TurnItem::of)
                    .map(|item| item.with_id(id)),
            };
            records.extend(stored.map(|item| self.completed(turn.id.clone(), item)));
        }
        records.push(Record::from(end_of(turn)));
        records
    }

    fn completed(&self, turn_id: String, item: TurnItem) -> Record {
        let now = time::millis(SystemTime::now());
        Record::from(Event::ItemCompleted(ItemCompleted {
            thread_id: self.thread.to_string(),
            turn_id,
            item,
            started_at_ms: Some(now),
            completed_at_ms: Some(now),
        }))
    }

    /// Keeps up with the turns, and adds what the new form says besides: times, and why a turn failed.
    fn follow(&mut self, record: Record) -> Record {
        let Record::Event(mut event) = record else {
            return record;
        };
        match &mut *event {
            Event::TaskStarted(started) => {
                self.turn.clone_from(&started.turn_id);
                self.failure = None;
            }
            Event::Error(error) => self.failure = Some(error.clone()),
            Event::ItemCompleted(done) => {
                let now = time::millis(SystemTime::now());
                done.started_at_ms.get_or_insert(now);
                done.completed_at_ms.get_or_insert(now);
            }
            Event::TaskComplete(complete) => {
                let ours = |failure: &mut ErrorEvent| {
                    failure
                        .turn_id
                        .as_ref()
                        .is_none_or(|id| *id == complete.turn_id)
                };
                complete.error = self.failure.take_if(ours).map(|failure| ErrorEvent {
                    turn_id: None,
                    ..failure
                });
            }
            _ => {}
        }
        Record::Event(event)
    }

    /// The item that a record finishes, and its turn.
    fn item(&self, place: usize, record: &Record) -> Option<(String, TurnItem)> {
        let turn = |named: &str| match named {
            "" => self.turn.clone(),
            named => named.to_owned(),
        };
        match record {
            Record::Event(event) => {
                let named = event.finishes_item()?;
                Some((turn(named), TurnItem::of(event)?))
            }
            Record::ResponseItem(item) if item.get().contains("<hook_prompt ") => {
                let fragments = items::hook_prompt(place as u64, item.get())?.item;
                let ThreadItem::HookPrompt { fragments, .. } = fragments else {
                    return None;
                };
                let id = Uuid::now_v7().to_string();
                Some((turn(""), TurnItem::HookPrompt(HookItem { id, fragments })))
            }
            _ => None,
        }
    }
}

/// The event that ended a turn.
fn end_of(turn: &Turn) -> Event {
    if matches!(
        turn.status,
        TurnStatus::Interrupted | TurnStatus::InProgress
    ) {
        return Event::TurnAborted(TurnAborted {
            turn_id: Some(turn.id.clone()),
            reason: "interrupted".to_owned(),
        });
    }
    Event::TaskComplete(TaskComplete {
        turn_id: turn.id.clone(),
        last_agent_message: None,
        error: turn.error.clone().map(|error| ErrorEvent {
            turn_id: None,
            message: error.message,
            codex_error_info: error.codex_error_info.map(Into::into),
        }),
    })
}

fn extend(record: &mut Record, part: ReasoningItem) {
    if let Record::Event(event) = record
        && let Event::ItemCompleted(done) = &mut **event
        && let TurnItem::Reasoning(whole) = &mut done.item
    {
        whole.summary_text.extend(part.summary_text);
        whole.raw_content.extend(part.raw_content);
    }
}
