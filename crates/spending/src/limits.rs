//! Budgets: how much may be used, of what, by whom.

use std::fmt;
use std::time::Duration;

use crate::Amount;

/// What a limit is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// One turn.
    Turn,
    /// A thread, as long as it lives.
    Thread,
    /// All threads in one working directory, on one day.
    Directory,
    /// Everything in the home, on one day.
    Day,
}

impl Scope {
    pub const ALL: [Self; 4] = [Self::Turn, Self::Thread, Self::Directory, Self::Day];

    /// The table of its settings below `budget`.
    pub fn key(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Thread => "thread",
            Self::Directory => "directory",
            Self::Day => "day",
        }
    }
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Measure {
    Tokens,
    Dollars,
    Seconds,
}

impl Measure {
    /// Its setting in the table of a scope.
    pub fn key(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Dollars => "dollars",
            Self::Seconds => "seconds",
        }
    }
}

/// How much may be used in one scope; what is unset is not limited.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Limit {
    pub tokens: Option<u64>,
    pub dollars: Option<f64>,
    pub seconds: Option<u64>,
}

/// The limits of all scopes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Budget {
    pub turn: Limit,
    pub thread: Limit,
    pub directory: Limit,
    pub day: Limit,
}

impl Budget {
    pub fn limit(&self, scope: Scope) -> Limit {
        match scope {
            Scope::Turn => self.turn,
            Scope::Thread => self.thread,
            Scope::Directory => self.directory,
            Scope::Day => self.day,
        }
    }

    /// Whether nothing is limited in a scope.
    pub fn is_free(&self, scope: Scope) -> bool {
        self.limit(scope) == Limit::default()
    }

    /// Whether money is limited anywhere.
    pub fn limits_money(&self) -> bool {
        Scope::ALL
            .into_iter()
            .any(|it| self.limit(it).dollars.is_some())
    }
}

/// How far a limit is used up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spent {
    pub scope: Scope,
    pub measure: Measure,
    pub used: f64,
    pub limit: f64,
}

impl Spent {
    pub fn is_exceeded(&self) -> bool {
        self.used >= self.limit
    }

    /// Whether it is time for a warning.
    pub fn is_near(&self) -> bool {
        self.used >= self.limit * 0.8
    }
}

impl Limit {
    /// Every limit that is set, with what was used of it.
    pub fn spent(&self, scope: Scope, used: Amount) -> impl Iterator<Item = Spent> {
        let measures = [
            (
                Measure::Tokens,
                used.tokens as f64,
                self.tokens.map(|it| it as f64),
            ),
            (Measure::Dollars, used.dollars, self.dollars),
            (
                Measure::Seconds,
                used.time.as_secs_f64(),
                self.seconds.map(|it| it as f64),
            ),
        ];
        let set = move |(measure, used, limit): (Measure, f64, Option<f64>)| {
            Some(Spent {
                scope,
                measure,
                used,
                limit: limit?,
            })
        };
        measures.into_iter().filter_map(set)
    }

    /// The time that is left.
    pub fn remaining(&self, used: Duration) -> Option<Duration> {
        Some(Duration::from_secs(self.seconds?).saturating_sub(used))
    }
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.measure {
            Measure::Tokens => write!(f, "{} of {} tokens", self.used, self.limit)?,
            Measure::Dollars => write!(f, "${:.4} of ${:.4}", self.used, self.limit)?,
            Measure::Seconds => write!(f, "{:.0} of {} seconds", self.used, self.limit)?,
        }
        let whose = match self.scope {
            Scope::Turn => "in this turn",
            Scope::Thread => "in this thread",
            Scope::Directory => "in this directory today",
            Scope::Day => "today",
        };
        let (scope, measure) = (self.scope.key(), self.measure.key());
        write!(f, " {whose} (`budget.{scope}.{measure}`)")
    }
}
