//! A thread: its state, and how an input changes it.

use std::collections::{BTreeSet, VecDeque};

use quipu_wire::{Json, ThreadStatus, ThreadTokenUsage};

use crate::background::Background;
use crate::effect::{Answer, Effect, Refusal, TurnEnd};
use crate::history::History;
use crate::ids::Ids;
use crate::input::{Input, ToolEvent};
use crate::status::Status;
use crate::turn::ActiveTurn;
use crate::usage::Usage;

/// Requests that may wait for a turn to end.
const MAX_WAITING: usize = 64;

/// Effects whose room is used again.
const MAX_REUSED: usize = 4;

/// What a thread begins with.
#[derive(Debug, Clone, Default)]
pub struct ThreadSetup {
    pub id: String,
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
    pub(crate) id: String,
    pub(crate) history: History,
    pub(crate) usage: Usage,
    pub(crate) status: Status,
    pub(crate) told: ThreadStatus,
    pub(crate) active: Option<ActiveTurn>,
    /// What outlives the turn that started it.
    pub(crate) background: Background,
    /// Calls that were given up and have not reported their end yet.
    pub(crate) abandoned: BTreeSet<String>,
    /// Requests that wait for the running turn to end, in their order.
    pub(crate) waiting: VecDeque<Input>,
    pub(crate) raw_items: bool,
    /// The user has hooks.
    pub(crate) hooks: bool,
    /// Those of the session's start have not run yet.
    pub(crate) session_start: bool,
    pub(crate) hook_runs: u64,
    pub(crate) interrupt_note: Option<Json>,
    pub(crate) samples: u64,
    pub(crate) item_ids: Ids,
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
            background: Background::default(),
            abandoned: BTreeSet::new(),
            waiting: VecDeque::new(),
            raw_items: setup.raw_items,
            hooks: setup.hooks,
            session_start: setup.hooks,
            hook_runs: 0,
            interrupt_note: None,
            samples: 0,
            item_ids: Ids::new(setup.seed),
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

    /// The size of the input that waits for the model, in bytes.
    #[must_use]
    pub fn pending_bytes(&self) -> usize {
        self.active.as_ref().map_or(0, ActiveTurn::pending_bytes)
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

    /// The rate limits as last told.
    #[must_use]
    pub fn rate_limits(&self) -> &quipu_wire::RateLimitSnapshot {
        &self.usage.rate_limits
    }

    /// Replaces the history, as a rollback does; only between turns.
    pub fn replace_history(&mut self, items: Vec<Json>, tokens: i64) {
        self.history.replace(items, tokens);
        self.usage.estimate(tokens, self.window);
    }

    /// Gives up the history of an idle thread, which must have it back before its next turn.
    pub fn forget_history(&mut self) {
        self.history.forget();
    }

    /// Takes the history back.
    pub fn recall_history(&mut self, items: Vec<Json>) {
        self.history.recall(items);
    }

    /// Sets what the model of the next turn can hold.
    pub fn set_limits(&mut self, window: Option<i64>, compact_at: Option<i64>) {
        self.window = window;
        self.compact_at = compact_at;
    }

    /// Sets what the model's history says after a turn that was interrupted.
    pub fn set_interrupt_note(&mut self, note: Json) {
        self.interrupt_note = Some(note);
    }

    /// From now on clients also see the items exactly as the model made them.
    pub fn show_raw_items(&mut self) {
        self.raw_items = true;
    }

    /// Takes one input and says what must happen.
    pub fn step(&mut self, input: Input) -> Vec<Effect> {
        self.accept(input);
        while !self.is_ending() {
            match self.waiting.pop_front() {
                Some(input) => self.accept(input),
                None => break,
            }
        }
        std::mem::take(&mut self.effects)
    }

    /// Takes back a list of effects that were performed, so that the next step need not make another. That
    /// counts at thousands of deltas.
    pub fn reuse(&mut self, mut effects: Vec<Effect>) {
        effects.clear();
        effects.shrink_to(MAX_REUSED);
        self.effects = effects;
    }

    fn accept(&mut self, input: Input) {
        if self.status.closed {
            return self.refuse(input, Refusal::Closed);
        }
        if self.is_ending() && self.must_wait(&input) {
            return self.wait(input);
        }
        match input {
            Input::Start(start) => self.start(start),
            Input::Steer {
                reply,
                expected,
                message,
            } => self.steer(reply, expected, message),
            Input::Interrupt { reply } => self.interrupt(reply),
            Input::Compact { turn_id } => self.compact(turn_id),
            Input::Review(review) => self.review(review),
            Input::Shell(shell) => self.shell(shell),
            Input::Context { turn_id, context } => self.context(&turn_id, context),
            Input::Model { sample, event } => self.model(sample, event),
            Input::Tool { call_id, event } => self.tool(&call_id, event),
            Input::Hooks { run, report } => self.hooks(run, report),
            Input::Answered { question } => self.answered(question),
            Input::Compacted { turn_id, compacted } => self.compacted(&turn_id, compacted),
            Input::ReviewRendered { turn_id, outcome } => self.review_rendered(&turn_id, outcome),
            Input::Note(note) => self.note(note),
            Input::GraceOver { turn_id } => self.grace_over(&turn_id),
            Input::Fault { error } => self.fault(error),
            Input::Close => self.close(),
        }
    }

    fn is_ending(&self) -> bool {
        self.active
            .as_ref()
            .is_some_and(|turn| turn.ending.is_some())
    }

    /// While a turn is ending, what clients ask for is done after it, as if it had ended at once. An
    /// interrupt is for the turn itself, unless something waits that the client may mean.
    fn must_wait(&self, input: &Input) -> bool {
        match input {
            Input::Start(_) | Input::Compact { .. } | Input::Review(_) | Input::Shell(_) => true,
            Input::Interrupt { .. } => !self.waiting.is_empty(),
            _ => false,
        }
    }

    fn wait(&mut self, mut input: Input) {
        if self.waiting.len() >= MAX_WAITING {
            return self.refuse(input, Refusal::NoActiveTurn);
        }
        if let Input::Review(review) = &mut input {
            self.accept_review(review);
        }
        self.waiting.push_back(input);
    }

    /// Lets a task take the place of the running turn. What else waits came after it.
    pub(crate) fn replace_turn(&mut self, task: Input) {
        self.waiting.push_front(task);
        self.stop(TurnEnd::Replaced);
    }

    /// Answers what will not be done.
    pub(crate) fn refuse(&mut self, input: Input, refusal: Refusal) {
        let reply = match input {
            Input::Start(start) => Some(start.reply),
            Input::Steer { reply, .. } => Some(reply),
            Input::Review(review) => review.reply,
            Input::Interrupt { reply: Some(reply) } => return self.answer(reply, Answer::Done),
            Input::Tool {
                call_id,
                event: ToolEvent::Ask { question, .. },
            } => {
                return self.emit(Effect::Deliver { question, call_id });
            }
            _ => None,
        };
        if let Some(reply) = reply {
            self.answer(reply, Answer::Refused(refusal));
        }
    }
}
