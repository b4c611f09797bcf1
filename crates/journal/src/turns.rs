//! Folds stored events into the turns clients see. The rules are those of the official program,
//! found by giving it rollouts and reading the turns back; what each event becomes is in
//! [`items`](crate::items).

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use quipu_wire::{ThreadItem, Turn, TurnError, TurnStatus};
use uuid::Uuid;

use crate::event::{ErrorEvent, ErrorInfo, Event, ItemCompleted, ReasoningText, TurnItem};
use crate::items::{self, Home, NewItem};

/// A turn being built.
struct Building {
    turn: Turn,
    /// Whether an event opened it, and not merely an item that had to go somewhere.
    explicit: bool,
    /// Where in the file it was opened.
    offset: u64,
    /// The form of its first finished item, and so of those that count.
    form: Option<Form>,
    /// Whether it has items in the form of paginated rollouts, whichever count.
    is_paged: bool,
}

/// The forms in which finished items are stored. A turn may be stored in both, so that every program finds
/// the one it reads; each item counts once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// As the events of all rollouts.
    Events,
    /// As the items of paginated ones.
    Items,
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

    /// Whether the last turn was neither opened nor ended by an event, as old programs stored every turn. It may have
    /// been cut off.
    pub fn has_unended(&self) -> bool {
        let said = |item: &ThreadItem| matches!(item, ThreadItem::UserMessage { .. });
        self.open
            && self.turns.last().is_some_and(|last| {
                !last.explicit
                    && last.turn.status == TurnStatus::Completed
                    && last.turn.items.iter().any(said)
            })
    }

    /// The turns opened at or after `offset` whose items are stored, but not as those of paginated rollouts.
    pub fn unpaged(&self, offset: u64) -> Vec<String> {
        let unpaged = |turn: &&Building| {
            turn.offset >= offset && turn.form == Some(Form::Events) && !turn.is_paged
        };
        let turns = self.turns.iter().filter(unpaged);
        turns.map(|building| building.turn.id.clone()).collect()
    }

    /// Takes the event found at `offset`; says whether it counts, and not one in another form instead.
    pub fn apply(&mut self, offset: u64, event: Event) -> bool {
        if let Some(turn) = event.finishes_item() {
            let turn = self.find(turn).or(self.last_open());
            if turn.is_some_and(|turn| self.turns[turn].form == Some(Form::Items)) {
                return false;
            }
        }
        match event {
            Event::ItemCompleted(done) if !matches!(done.item, TurnItem::Plan(_)) => {
                return self.item_completed(offset, done);
            }
            Event::TaskStarted(started) => self.open(offset, started.turn_id, true),
            Event::TaskComplete(complete) => {
                if let Some(mut error) = complete.error {
                    error.turn_id = Some(complete.turn_id.clone());
                    self.fail(error);
                }
                self.complete(&complete.turn_id);
            }
            Event::TurnAborted(aborted) => self.abort(aborted.turn_id.as_deref()),
            Event::ThreadRolledBack(back) => self.roll_back(back.num_turns),
            Event::Error(error) => self.fail(error),
            Event::AgentReasoning(part) => self.reason(offset, part, Thought::Summary),
            Event::AgentReasoningRawContent(part) => self.reason(offset, part, Thought::Content),
            other => {
                if matches!(other, Event::UserMessage(_)) && !self.in_explicit_turn() {
                    self.open = false;
                }
                let finished = other.finishes_item().is_some();
                if let Some(item) = items::from_event(other)
                    && let Some(turn) = self.add(offset, item)
                    && finished
                {
                    self.turns[turn].form = Some(Form::Events);
                }
            }
        }
        true
    }

    /// Takes a finished item as paginated rollouts store it. Its turn need not have been opened.
    fn item_completed(&mut self, offset: u64, done: ItemCompleted) -> bool {
        let turn = match self.find(&done.turn_id) {
            Some(turn) => turn,
            None => {
                self.open(offset, done.turn_id.clone(), false);
                self.turns.len() - 1
            }
        };
        let building = &mut self.turns[turn];
        building.is_paged = true;
        let counts = *building.form.get_or_insert(Form::Items) == Form::Items;
        if counts && let Some(item) = items::from_completed(done) {
            self.place(turn, item);
        }
        counts
    }

    /// Makes sure that a turn is open at a compaction, so that one outside any turn has a place.
    pub fn compacted(&mut self, offset: u64) {
        self.current(offset);
    }

    /// Adds an item to its turn, which is returned; without that turn the item is lost.
    pub fn add(&mut self, offset: u64, new: NewItem) -> Option<usize> {
        let turn = match new.home {
            Home::Current => self.current(offset),
            Home::Turn(id) if id.is_empty() => self.current(offset),
            Home::Turn(id) => self.find(&id)?,
        };
        self.place(turn, new.item);
        Some(turn)
    }

    /// Adds an item, or completes the one that has its id.
    fn place(&mut self, turn: usize, mut item: ThreadItem) {
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

    fn open(&mut self, offset: u64, id: String, explicit: bool) {
        let status = if explicit {
            TurnStatus::InProgress
        } else {
            TurnStatus::Completed
        };
        let turn = Turn {
            id,
            items: Vec::new(),
            items_view: None,
            status,
            error: None,
        };
        self.turns.push(Building {
            turn,
            explicit,
            offset,
            form: None,
            is_paged: false,
        });
        self.open = true;
    }

    /// The open turn, or a new one with an id that is the same on every reading.
    fn current(&mut self, offset: u64) -> usize {
        if !self.open {
            let id = Uuid::from_u128(self.thread.as_u128() ^ u128::from(offset + 1));
            self.open(offset, id.to_string(), false);
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

    /// Adds a part of the model's thoughts to the reasoning item it continues, or starts one. An empty part adds nothing,
    /// and is the whole of an item that shows nothing.
    fn reason(&mut self, offset: u64, part: ReasoningText, thought: Thought) {
        let turn = self.current(offset);
        self.turns[turn].form = Some(Form::Events);
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
                _ if part.text.is_empty() => {}
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
