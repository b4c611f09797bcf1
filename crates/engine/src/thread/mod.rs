//! A thread: what it consists of, and what others may know of it. How an input changes it is in `step`.

mod step;

use std::collections::VecDeque;

use quipu_wire::{Json, RateLimitSnapshot, ThreadStatus, ThreadTokenUsage};

use crate::background::Background;
use crate::history::History;
use crate::ids::{ThreadId, TurnId};
use crate::input::Input;
use crate::out::Out;
use crate::questions::Questions;
use crate::sequence::Sequence;
use crate::shared::{Settings, Shared};
use crate::status::Status;
use crate::turn::{Ending, Turn};
use crate::usage::Usage;

/// What a thread begins with.
#[derive(Debug, Clone, Default)]
pub struct ThreadSetup {
    pub id: ThreadId,
    /// The model's history, read from the log of a resumed thread.
    pub history: Vec<Json>,
    pub usage: Option<ThreadTokenUsage>,
    /// Clients also see the items exactly as the model made them.
    pub raw_items: bool,
    /// The user has hooks.
    pub hooks: bool,
    /// A random number, from which the ids follow that the thread makes itself.
    pub seed: u128,
}

/// One thread in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Thread {
    state: State,
    shared: Shared,
    /// Requests that wait for the running turn to end, in their order.
    waiting: VecDeque<Input>,
}

/// Whether a turn runs.
#[derive(Debug, Clone, PartialEq)]
enum State {
    Idle,
    Running(Box<Turn>),
    /// The turn ends as soon as what it has under way has stopped.
    Ending(Box<Turn>, Ending),
    Closed,
}

impl State {
    fn turn(&self) -> Option<&Turn> {
        match self {
            Self::Running(turn) | Self::Ending(turn, _) => Some(turn),
            Self::Idle | Self::Closed => None,
        }
    }
}

impl Thread {
    /// A thread that is idle.
    #[must_use]
    pub fn new(setup: ThreadSetup) -> Self {
        let usage = setup.usage.as_ref();
        let counted = usage.map_or(0, |usage| usage.last.total_tokens);
        let shared = Shared {
            out: Out::new(setup.id),
            history: History::new(setup.history, counted),
            usage: Usage::new(setup.usage),
            status: Status::new(),
            questions: Questions::default(),
            background: Background::default(),
            sequence: Sequence::new(setup.seed),
            settings: Settings {
                raw_items: setup.raw_items,
                hooks: setup.hooks,
                interrupt_note: None,
                window: None,
                compact_at: None,
                hands_over: false,
            },
            is_session_new: setup.hooks,
        };
        Self {
            state: State::Idle,
            shared,
            waiting: VecDeque::new(),
        }
    }

    /// The status that clients know.
    #[must_use]
    pub fn status(&self) -> &ThreadStatus {
        self.shared.status.sent()
    }

    /// Whether the thread takes nothing more: it was closed or handed over.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed)
    }

    /// The id of the running turn.
    #[must_use]
    pub fn active_turn(&self) -> Option<&TurnId> {
        self.state.turn().map(Turn::id)
    }

    /// Whether a turn with this id starts when the running one has ended.
    #[must_use]
    pub fn has_waiting_turn(&self, id: &str) -> bool {
        self.waiting.iter().any(|input| match input {
            Input::Review(review) => *review.turn_id == *id,
            Input::Compact { turn_id } => **turn_id == *id,
            _ => false,
        })
    }

    /// The size of the input that waits for the model, in bytes.
    #[must_use]
    pub fn pending_bytes(&self) -> usize {
        self.state.turn().map_or(0, Turn::pending_bytes)
    }

    /// What the model is to be sent now.
    #[must_use]
    pub fn history(&self) -> &[Json] {
        let review = self.state.turn().and_then(Turn::own_history);
        review.unwrap_or_else(|| self.own_history())
    }

    /// The history of the thread itself, also while a review has its own.
    #[must_use]
    pub fn own_history(&self) -> &[Json] {
        self.shared.history.items()
    }

    /// The tokens used so far.
    #[must_use]
    pub fn usage(&self) -> Option<&ThreadTokenUsage> {
        self.shared.usage.tokens()
    }

    /// The rate limits as last known.
    #[must_use]
    pub fn rate_limits(&self) -> &RateLimitSnapshot {
        self.shared.usage.rate_limits()
    }

    /// Replaces the history, as a rollback does; only between turns.
    pub fn replace_history(&mut self, items: Vec<Json>, tokens: i64) {
        self.shared.replace_history(items, tokens);
    }

    /// Drops the history of an idle thread. It must be restored before the next turn.
    pub fn unload_history(&mut self) {
        self.shared.history.unload();
    }

    /// Restores the history that was dropped.
    pub fn restore_history(&mut self, items: Vec<Json>) {
        self.shared.history.restore(items);
    }

    /// Sets what the model of the next turn can hold.
    pub fn set_limits(&mut self, window: Option<i64>, compact_at: Option<i64>) {
        self.shared.settings.window = window;
        self.shared.settings.compact_at = compact_at;
    }

    /// Sets whether the user has hooks. Those of the session's start do not run any more.
    pub fn set_hooks(&mut self, hooks: bool) {
        self.shared.settings.hooks = hooks;
    }

    /// Sets what the model's history says after an interrupted turn.
    pub fn set_interrupt_note(&mut self, note: Json) {
        self.shared.settings.interrupt_note = Some(note);
    }

    /// From now on clients also see the items exactly as the model made them.
    pub fn show_raw_items(&mut self) {
        self.shared.settings.raw_items = true;
    }
}
