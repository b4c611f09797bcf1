//! A thread: its state, and how an input changes it.

use std::collections::BTreeMap;

use quipu_wire::{Json, ServerNotification, ThreadItem, ThreadStatus, ThreadTokenUsage};

use crate::effect::{Effect, Record};
use crate::history::History;
use crate::input::Input;
use crate::status::Status;
use crate::turn::ActiveTurn;
use crate::usage::Usage;

/// What a thread begins with.
#[derive(Debug, Clone, Default)]
pub struct ThreadSetup {
    pub id: String,
    /// The model's history, read from the log of a resumed thread.
    pub history: Vec<Json>,
    pub usage: Option<ThreadTokenUsage>,
    /// Clients also see the items exactly as the model made them.
    pub raw_items: bool,
}

/// One thread in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Thread {
    pub(crate) id: String,
    pub(crate) history: History,
    pub(crate) usage: Usage,
    pub(crate) status: Status,
    pub(crate) told: ThreadStatus,
    pub(crate) active: Option<ActiveTurn>,
    /// Items of processes that outlive the turn that started them, with that turn.
    pub(crate) background: BTreeMap<String, (String, ThreadItem)>,
    /// Input and tasks that wait for a turn to make room.
    pub(crate) next: Option<Box<Input>>,
    pub(crate) raw_items: bool,
    pub(crate) samples: u64,
    /// Tokens the model can work with, and from which size on the history is compacted.
    pub(crate) window: Option<i64>,
    pub(crate) compact_at: Option<i64>,
    pub(crate) effects: Vec<Effect>,
}

impl Thread {
    /// A thread that is idle.
    #[must_use]
    pub fn new(setup: ThreadSetup) -> Thread {
        let counted = setup
            .usage
            .as_ref()
            .map_or(0, |usage| usage.last.total_tokens);
        Thread {
            id: setup.id,
            history: History::new(setup.history, counted),
            usage: Usage::new(setup.usage),
            status: Status::default(),
            told: ThreadStatus::Idle,
            active: None,
            background: BTreeMap::new(),
            next: None,
            raw_items: setup.raw_items,
            samples: 0,
            window: None,
            compact_at: None,
            effects: Vec::new(),
        }
    }

    /// The status that clients were told.
    #[must_use]
    pub fn status(&self) -> &ThreadStatus {
        &self.told
    }

    /// The id of the running turn.
    #[must_use]
    pub fn active_turn(&self) -> Option<&str> {
        self.active.as_ref().map(|turn| turn.id.as_str())
    }

    /// What the model is to be sent now.
    #[must_use]
    pub fn history(&self) -> &[Json] {
        let review = self.active.as_ref().and_then(|turn| turn.review.as_ref());
        review.map_or(self.history.items(), |review| &review.history)
    }

    /// The history of the thread itself, also while a review has its own.
    #[must_use]
    pub fn own_history(&self) -> &[Json] {
        self.history.items()
    }

    /// The tokens used so far.
    #[must_use]
    pub fn usage(&self) -> Option<&ThreadTokenUsage> {
        self.usage.tokens()
    }

    /// Replaces the history, as a rollback does; only between turns.
    pub fn replace_history(&mut self, items: Vec<Json>, tokens: i64) {
        self.history.replace(items, tokens);
        self.usage.estimate(tokens, self.window);
    }

    /// Sets what the model of the next turn can hold.
    pub fn set_limits(&mut self, window: Option<i64>, compact_at: Option<i64>) {
        self.window = window;
        self.compact_at = compact_at;
    }

    /// From now on clients also see the items exactly as the model made them.
    pub fn show_raw_items(&mut self) {
        self.raw_items = true;
    }

    /// Takes one input and says what must happen.
    pub fn step(&mut self, input: Input) -> Vec<Effect> {
        self.accept(input);
        while self.active.is_none() {
            match self.next.take() {
                Some(input) => self.accept(*input),
                None => break,
            }
        }
        std::mem::take(&mut self.effects)
    }

    fn accept(&mut self, input: Input) {
        match input {
            Input::Start(start) => self.start(start),
            Input::Steer {
                reply,
                expected,
                message,
            } => self.steer(reply, &expected, message),
            Input::Interrupt { reply } => self.interrupt(reply),
            Input::Compact { turn_id } => self.compact(turn_id),
            Input::Review(review) => self.review(review),
            Input::Shell(shell) => self.shell(shell),
            Input::Context { turn_id, context } => self.context(&turn_id, context),
            Input::Model { sample, event } => self.model(sample, event),
            Input::Tool { call_id, event } => self.tool(&call_id, event),
            Input::Answered { question } => self.answered(question),
            Input::Compacted { turn_id, compacted } => self.compacted(&turn_id, compacted),
            Input::ReviewRendered { turn_id, outcome } => self.review_rendered(&turn_id, outcome),
            Input::GraceOver { turn_id } => self.grace_over(&turn_id),
            Input::Fault { error } => self.fault(error),
            Input::Close => self.close(),
        }
    }

    pub(crate) fn emit(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    pub(crate) fn record(&mut self, record: Record) {
        self.emit(Effect::Record(record));
    }

    pub(crate) fn notify(&mut self, notification: ServerNotification) {
        self.emit(Effect::Notify(notification));
    }

    /// Tells the status if it is not the one last told.
    pub(crate) fn tell_status(&mut self) {
        let status = self.status.derive();
        if status != self.told {
            self.told = status.clone();
            let params = quipu_wire::ThreadStatusChangedNotification {
                thread_id: self.id.clone(),
                status,
            };
            self.emit(Effect::Broadcast(ServerNotification::ThreadStatusChanged(
                params,
            )));
        }
    }

    /// Adds to the history the model sees, and to the log unless a review keeps it to itself.
    pub(crate) fn remember(&mut self, item: Json) {
        let turn_id = self.active.as_ref().map(|turn| turn.id.clone());
        if self.raw_items
            && let (Some(turn_id), Ok(raw)) = (turn_id, item.parse())
        {
            let params = quipu_wire::RawResponseItemCompletedNotification {
                thread_id: self.id.clone(),
                turn_id,
                item: raw,
            };
            self.notify(ServerNotification::RawResponseItemCompleted(params));
        }
        match self.active.as_mut().and_then(|turn| turn.review.as_mut()) {
            Some(review) => review.history.push(item),
            None => {
                self.record(Record::History(item.clone()));
                self.history.push(item);
            }
        }
    }
}
