//! What ends an evaluation early: time, money, a failure that the model cannot be told, and the caller.

use std::future::{Future, pending};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::budget::{Budget, Money, Price, Usage};
use crate::{Error, Phase};

/// The limits of one evaluation, for all who work on it.
pub(crate) struct Limits {
    pub deadline: Option<Instant>,
    pub budget: Option<Budget>,
    meter: Mutex<Meter>,
    ended: watch::Sender<Option<Ended>>,
}

/// What this evaluation has used.
#[derive(Default)]
struct Meter {
    usage: Usage,
    price: Option<Price>,
}

impl Meter {
    fn cost(&self) -> Money {
        self.price
            .map(|price| price.of(self.usage))
            .unwrap_or_default()
    }
}

/// The time by the clock that timers go by.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// Why an evaluation cannot go on.
#[derive(Clone, Debug)]
pub(crate) enum Ended {
    Deadline,
    Budget(String),
    Tool(String),
    Over,
}

impl Limits {
    pub fn new(deadline: Option<Instant>, budget: Option<Budget>) -> Limits {
        Limits {
            deadline: deadline.or(budget.as_ref().and_then(Budget::end)),
            budget,
            meter: Mutex::default(),
            ended: watch::Sender::new(None),
        }
    }

    /// Whether an evaluation may begin at all, or begin again.
    pub fn check_start(&self, is_first: bool) -> Result<(), Error> {
        let late = self.deadline.is_some_and(|it| it <= now());
        let used = self.budget.as_ref().and_then(Budget::exhausted);
        match (late, used) {
            (false, None) => Ok(()),
            (true, _) if is_first => Err(Error::request(
                "the deadline has passed already; nothing was started",
            )),
            (true, _) => Err(Ended::Deadline.into()),
            (false, Some(used)) if is_first => Err(Error::new(
                Phase::Budget,
                format!("{used}; nothing was started"),
            )),
            (false, Some(used)) => Err(Ended::Budget(used).into()),
        }
    }

    /// This long, or until the deadline if that is sooner.
    pub fn at_most(&self, limit: Duration) -> Duration {
        let left = self.deadline.map(|it| it.saturating_duration_since(now()));
        left.map_or(limit, |left| left.min(limit))
    }

    /// Takes what the server says was used so far.
    pub fn used(&self, usage: Usage) {
        let mut meter = self.meter.lock();
        let more = usage.since(meter.usage);
        let cost = meter.cost().millionths();
        meter.usage = usage;
        let more_cost = meter.cost().millionths().saturating_sub(cost);
        drop(meter);
        if let Some(budget) = &self.budget {
            budget.spend(more, Money::from_millionths(more_cost));
        }
    }

    /// The price of the model in use, once it is known.
    pub fn set_price(&self, price: Option<Price>) {
        self.meter.lock().price = price;
    }

    pub fn usage(&self) -> Usage {
        self.meter.lock().usage
    }

    pub fn cost(&self) -> Option<Money> {
        let meter = self.meter.lock();
        meter.price.map(|price| price.of(meter.usage))
    }

    /// Ends the evaluation for all who work on it. The first reason stays.
    pub fn end(&self, reason: Ended) {
        self.ended.send_if_modified(|ended| {
            let is_first = ended.is_none();
            ended.get_or_insert(reason);
            is_first
        });
    }

    /// Why the evaluation cannot go on, if so.
    pub fn ended(&self) -> Option<Ended> {
        let ended = self.ended.borrow().clone();
        let late = || {
            self.deadline
                .is_some_and(|it| it <= now())
                .then_some(Ended::Deadline)
        };
        let broke = || {
            self.budget
                .as_ref()
                .and_then(Budget::exceeded)
                .map(Ended::Budget)
        };
        ended.or_else(late).or_else(broke)
    }

    /// Waits until the evaluation cannot go on.
    pub async fn ending(&self) -> Ended {
        let late = async {
            match self.deadline {
                Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
                None => pending().await,
            }
        };
        let broke = async {
            match &self.budget {
                Some(budget) => budget.exceeding().await,
                None => pending().await,
            }
        };
        let mut ended = self.ended.subscribe();
        tokio::select! {
            biased;
            ended = ended.wait_for(Option::is_some) => match ended {
                Ok(reason) => reason.clone().unwrap_or(Ended::Over),
                // The sender is a field of what `self` borrows.
                Err(_) => Ended::Over,
            },
            () = late => Ended::Deadline,
            exceeded = broke => Ended::Budget(exceeded),
        }
    }

    /// Waits for something, but not longer than the evaluation may go on.
    pub async fn within<T>(&self, future: impl Future<Output = T>) -> Result<T, Error> {
        tokio::select! {
            biased;
            ended = self.ending() => Err(ended.into()),
            done = future => Ok(done),
        }
    }
}

impl Ended {
    /// What the model reads about a call that cannot run on.
    pub fn for_model(&self) -> String {
        match self {
            Ended::Deadline => "The time for this task is over.".to_owned(),
            Ended::Budget(_) => "The budget for this task is used up.".to_owned(),
            Ended::Tool(_) | Ended::Over => "This task has ended.".to_owned(),
        }
    }
}

impl From<Ended> for Error {
    fn from(ended: Ended) -> Error {
        match ended {
            Ended::Deadline => Error::new(Phase::Deadline, "the deadline has passed"),
            Ended::Budget(exceeded) => Error::new(Phase::Budget, exceeded),
            Ended::Tool(message) => Error::new(Phase::Tool, message),
            Ended::Over => Error::new(Phase::Request, "the evaluation was given up"),
        }
    }
}
