//! Folds stored events into the turns clients see. The rules are those of the official program,
//! found by giving it rollouts and reading the turns back; what each event becomes is in
//! [`items`](crate::items).

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use quipu_wire::{ThreadItem, Turn, TurnError, TurnStatus};
use uuid::Uuid;

use crate::event::{ErrorEvent, ErrorInfo, Event, ReasoningText};
use crate::items::{self, Home, NewItem};

/// A turn being built.
struct Building {
    turn: Turn,
    /// Whether an event opened it, and not merely an item that had to go somewhere.
    explicit: bool,
}

/// Builds turns from events, in file order.
#[derive(Default)]
pub(crate) struct TurnBuilder {
    /// Whose turns these are; ids of turns that no event opened are made from it.
    pub thread: Uuid,
    turns: Vec<Building>,
    /// Whether the last turn still takes items.
    open: bool,
    /// How many items have been given numbers as ids.
    numbered: usize,
    /// Where items are that a later event may complete, by turn and id.
    places: HashMap<(usize, String), usize>,
}

impl TurnBuilder {
    /// How many turns there are so far.
    pub fn len(&self) -> usize {
        self.turns.len()
    }

    pub fn finish(self) -> Vec<Turn> {
        self.turns
            .into_iter()
            .map(|building| building.turn)
            .collect()
    }

    /// Takes the event found at `offset`.
    pub fn apply(&mut self, offset: u64, event: Event) {
        match event {
            Event::TaskStarted(started) => self.open(started.turn_id, true),
            Event::TaskComplete(complete) => self.complete(&complete.turn_id),
            Event::TurnAborted(aborted) => self.abort(aborted.turn_id.as_deref()),
            Event::ThreadRolledBack(back) => self.roll_back(back.num_turns),
            Event::Error(error) => self.fail(error),
            Event::AgentReasoning(part) => self.reason(offset, part, Thought::Summary),
            Event::AgentReasoningRawContent(part) => self.reason(offset, part, Thought::Content),
            other => {
                if matches!(other, Event::UserMessage(_)) && !self.in_explicit_turn() {
                    self.open = false;
                }
                if let Some(item) = items::from_event(other) {
                    self.add(offset, item);
                }
            }
        }
    }

    /// Makes sure that a turn is open at a compaction, so that one outside any turn has a place.
    pub fn compacted(&mut self, offset: u64) {
        self.current(offset);
    }

    /// Adds an item that is not stored as an event.
    pub fn add(&mut self, offset: u64, new: NewItem) {
        let turn = match new.home {
            Home::Current => self.current(offset),
            Home::Turn(id) if id.is_empty() => self.current(offset),
            Home::Turn(id) => match self.find(&id) {
                Some(turn) => turn,
                None => return,
            },
        };
        let mut item = new.item;
        let items = &mut self.turns[turn].turn.items;
        match items::id_mut(&mut item) {
            Some(id) if id.is_empty() => *id = number(&mut self.numbered),
            Some(id) => match self.places.entry((turn, id.clone())) {
                Entry::Occupied(place) => {
                    items[*place.get()] = item;
                    return;
                }
                Entry::Vacant(place) => {
                    place.insert(items.len());
                }
            },
            None => {}
        }
        items.push(item);
    }

    fn in_explicit_turn(&self) -> bool {
        self.open && self.turns.last().is_some_and(|last| last.explicit)
    }

    fn open(&mut self, id: String, explicit: bool) {
        let status = if explicit {
            TurnStatus::InProgress
        } else {
            TurnStatus::Completed
        };
        let turn = Turn {
            id,
            items: Vec::new(),
            status,
            error: None,
        };
        self.turns.push(Building { turn, explicit });
        self.open = true;
    }

    /// The open turn, or a new one with an id that is the same on every reading.
    fn current(&mut self, offset: u64) -> usize {
        if !self.open {
            let id = Uuid::from_u128(self.thread.as_u128() ^ u128::from(offset + 1));
            self.open(id.to_string(), false);
        }
        self.turns.len() - 1
    }

    /// The turn of this id, the newest first.
    fn find(&self, id: &str) -> Option<usize> {
        self.turns
            .iter()
            .rposition(|building| building.turn.id == id)
    }

    fn last_open(&self) -> Option<usize> {
        self.open.then(|| self.turns.len() - 1)
    }

    fn complete(&mut self, id: &str) {
        let Some(index) = self.find(id).or(self.last_open()) else {
            return;
        };
        let turn = &mut self.turns[index].turn;
        if !matches!(turn.status, TurnStatus::Failed | TurnStatus::Interrupted) {
            turn.status = TurnStatus::Completed;
        }
        if self.last_open() == Some(index) {
            self.open = false;
        }
    }

    fn abort(&mut self, id: Option<&str>) {
        let index = id.and_then(|id| self.find(id)).or(self.last_open());
        if let Some(index) = index {
            self.turns[index].turn.status = TurnStatus::Interrupted;
        }
    }

    fn fail(&mut self, error: ErrorEvent) {
        let about_the_turn = !matches!(
            error.codex_error_info,
            Some(ErrorInfo::ThreadRollbackFailed | ErrorInfo::ActiveTurnNotSteerable { .. })
        );
        let named = error.turn_id.as_deref().and_then(|id| self.find(id));
        if let Some(index) = named.or(self.last_open()).filter(|_| about_the_turn) {
            let turn = &mut self.turns[index].turn;
            turn.status = TurnStatus::Failed;
            turn.error = Some(TurnError {
                message: error.message,
                codex_error_info: error.codex_error_info.map(Into::into),
                additional_details: None,
            });
        }
    }

    fn roll_back(&mut self, turns: u32) {
        let keep = self.turns.len().saturating_sub(turns as usize);
        self.turns.truncate(keep);
        self.open = false;
        self.places.retain(|(turn, _), _| *turn < keep);
        self.numbered = self.turns.iter().map(|kept| kept.turn.items.len()).sum();
    }

    /// Adds a part of the model's thoughts to the reasoning item it continues, or starts one.
    fn reason(&mut self, offset: u64, part: ReasoningText, thought: Thought) {
        if part.text.is_empty() {
            return;
        }
        let turn = self.current(offset);
        let items = &mut self.turns[turn].turn.items;
        if !matches!(items.last(), Some(ThreadItem::Reasoning { .. })) {
            items.push(ThreadItem::Reasoning {
                id: number(&mut self.numbered),
                summary: Vec::new(),
                content: Vec::new(),
            });
        }
        if let Some(ThreadItem::Reasoning {
            summary, content, ..
        }) = items.last_mut()
        {
            match thought {
                Thought::Summary => summary.push(part.text),
                Thought::Content => content.push(part.text),
            }
        }
    }
}

/// The two lists of a reasoning item.
#[derive(Clone, Copy)]
enum Thought {
    Summary,
    Content,
}

/// The id of an item that has none of its own.
fn number(numbered: &mut usize) -> String {
    *numbered += 1;
    format!("item-{numbered}")
}
