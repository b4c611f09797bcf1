//! The meter of one thread: what it used, and whether it may go on.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::NaiveDate;
use parking_lot::Mutex;

use crate::Amount;
use crate::ledger::{Entry, Ledger};
use crate::limits::{Budget, Measure, Scope, Spent};

/// Whether the model may be asked again.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It may. These limits are nearly used up, which nobody was warned of yet.
    Allowed { near: Vec<Spent> },
    /// It may not.
    Exceeded(Spent),
}

/// US dollars, of answers whose price is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paid {
    /// Of the last answer.
    pub last: Option<f64>,
    pub turn: f64,
    pub thread: f64,
}

/// Counts what one thread uses.
pub struct Meter {
    ledger: Arc<dyn Ledger>,
    thread: String,
    /// The day before which it has used nothing.
    since: NaiveDate,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// None until it was summed up from the ledger.
    thread: Option<Amount>,
    turn: Amount,
    /// What the last answer cost, if that is known; none before the first answer.
    last: Option<Option<f64>>,
    /// The start of the turn, or its last answer.
    counted_until: Instant,
    /// Of what was warned: in this turn, or since the thread was loaded.
    warned: HashSet<(Scope, Measure)>,
}

impl Meter {
    /// For a thread that began on a day.
    pub fn new(ledger: Arc<dyn Ledger>, thread: String, since: NaiveDate) -> Self {
        Self::of(ledger, thread, since, None)
    }

    /// For a thread that begins now, of which the ledger, which may be long, knows nothing.
    pub fn new_thread(ledger: Arc<dyn Ledger>, thread: String) -> Self {
        Self::of(ledger, thread, NaiveDate::MAX, Some(Amount::default()))
    }

    fn of(ledger: Arc<dyn Ledger>, thread: String, since: NaiveDate, used: Option<Amount>) -> Self {
        Self {
            ledger,
            thread,
            since,
            state: Mutex::new(State {
                thread: used,
                turn: Amount::default(),
                last: None,
                counted_until: Instant::now(),
                warned: HashSet::new(),
            }),
        }
    }

    pub fn begin_turn(&self) {
        let mut state = self.state.lock();
        state.turn = Amount::default();
        state.counted_until = Instant::now();
        state.warned.retain(|(scope, _)| *scope != Scope::Turn);
    }

    /// What the turn has used so far.
    pub fn turn(&self) -> Amount {
        self.state.lock().turn
    }

    /// What was paid, once an answer had a price.
    pub fn paid(&self) -> Option<Paid> {
        let state = self.state.lock();
        let paid = Paid {
            last: state.last?,
            turn: state.turn.dollars,
            thread: state.thread?.dollars,
        };
        (paid.last.is_some() || paid.thread > 0.0).then_some(paid)
    }

    /// Counts an answer; its `thread` and `seconds` are filled in. Returns what the thread cost so far.
    pub fn count(&self, mut entry: Entry) -> Amount {
        let mut state = self.state.lock();
        let now = Instant::now();
        entry.thread.clone_from(&self.thread);
        entry.seconds = now.duration_since(state.counted_until).as_secs_f64();
        state.counted_until = now;
        // Before the entry is in the ledger, which would count it twice.
        let before = state.thread_total(&*self.ledger, &self.thread, self.since);
        if let Err(error) = self.ledger.add(&entry) {
            tracing::warn!(%error, thread = self.thread, "usage cannot be recorded");
        }
        state.turn += entry.amount();
        state.last = Some(entry.dollars);
        let mut total = before;
        total += entry.amount();
        state.thread = Some(total);
        total
    }

    /// Whether the model may be asked again.
    pub fn check(&self, budget: &Budget, directory: &str) -> Verdict {
        let mut state = self.state.lock();
        let running = state.counted_until.elapsed();
        let mut near = Vec::new();
        for scope in Scope::ALL.into_iter().filter(|it| !budget.is_free(*it)) {
            let mut used = self.used(&mut state, scope, directory);
            used.time += running;
            for spent in budget.limit(scope).spent(scope, used) {
                if spent.is_exceeded() {
                    return Verdict::Exceeded(spent);
                }
                if spent.is_near() && state.warned.insert((scope, spent.measure)) {
                    near.push(spent);
                }
            }
        }
        Verdict::Allowed { near }
    }

    /// When the time of the turn is over, and by which limit; none if time is not limited.
    pub fn time_left(&self, budget: &Budget, directory: &str) -> Option<(Duration, Spent)> {
        let mut state = self.state.lock();
        let running = state.counted_until.elapsed();
        let left = |scope: Scope| {
            let limit = budget.limit(scope);
            limit.seconds?;
            let used = self.used(&mut state, scope, directory).time + running;
            let seconds = limit.seconds? as f64;
            let spent = Spent {
                scope,
                measure: Measure::Seconds,
                used: seconds,
                limit: seconds,
            };
            Some((limit.remaining(used)?, spent))
        };
        let all = Scope::ALL.into_iter().filter_map(left);
        all.min_by_key(|(left, _)| *left)
    }

    fn used(&self, state: &mut State, scope: Scope, directory: &str) -> Amount {
        match scope {
            Scope::Turn => state.turn,
            Scope::Thread => state.thread_total(&*self.ledger, &self.thread, self.since),
            Scope::Directory => self.ledger.today(directory).1,
            Scope::Day => self.ledger.today(directory).0,
        }
    }
}

impl State {
    fn thread_total(&mut self, ledger: &dyn Ledger, id: &str, since: NaiveDate) -> Amount {
        *self.thread.get_or_insert_with(|| ledger.thread(id, since))
    }
}
