//! What is remembered of an issue over the death of the service: its attempts, what they cost, and when it is tried
//! again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::config::Price;
use crate::orchestrator::Reported;
use crate::session::Usage;
use crate::time::{self, Millis};
use crate::workspace;

/// So many attempts of an issue are remembered.
const MAX_ATTEMPTS: usize = 50;
/// So many threads of an attempt are counted.
const MAX_THREADS: usize = 1_000;

/// What is remembered of one issue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub issue_id: String,
    pub identifier: String,
    pub title: String,
    pub url: Option<String>,
    /// Why nobody works on it until an operator asks for it.
    pub held: Option<String>,
    pub spent: Spend,
    /// The latest attempts, the oldest first.
    pub attempts: Vec<Attempt>,
    pub retry: Option<Retry>,
    /// Whether its workspace was removed after the last attempt.
    #[serde(default)]
    pub removed: bool,
}

/// One run of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// Counts all runs of the issue, from 1.
    pub number: u32,
    /// Nothing for a first run; counts retries and continuations from 1.
    pub attempt: Option<u32>,
    #[serde(with = "stamp")]
    pub started_at: Millis,
    #[serde(with = "stamp::option")]
    pub ended_at: Option<Millis>,
    pub status: Status,
    pub error: Option<String>,
    pub host: Option<String>,
    pub thread_id: Option<String>,
    pub turns: u32,
    pub spent: Spend,
    /// The totals of its threads as last reported, from which the next ones are counted.
    #[serde(default)]
    pub totals: BTreeMap<String, Tokens>,
    /// Whether its changes are stored as a patch.
    pub patch: bool,
    /// The branch with its changes.
    pub branch: Option<String>,
}

/// How an attempt stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Running,
    Succeeded,
    Failed,
    TimedOut,
    Stalled,
    /// Its issue was no longer to be worked on.
    CanceledByReconciliation,
    CanceledByOperator,
    OverBudget,
    /// The service ended; the thread can go on.
    Interrupted,
}

/// A retry that waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Retry {
    pub attempt: u32,
    #[serde(with = "stamp")]
    pub due_at: Millis,
    pub error: Option<String>,
}

/// Tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    pub input: u64,
    pub cached_input: u64,
    pub output: u64,
    pub total: u64,
}

/// Tokens and what they cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spend {
    pub tokens: Tokens,
    pub cost: f64,
}

/// What one day has cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Day {
    /// As `2026-02-24`, in UTC.
    pub date: String,
    pub spent: Spend,
    /// Attempts that were started.
    pub attempts: u32,
}

impl Record {
    #[must_use]
    pub fn new(issue: &crate::tracker::Issue) -> Record {
        Record {
            issue_id: issue.id.clone(),
            identifier: issue.identifier.clone(),
            title: issue.title.clone(),
            url: issue.url.clone(),
            held: None,
            spent: Spend::default(),
            attempts: Vec::new(),
            retry: None,
            removed: false,
        }
    }

    /// Adds an attempt; the oldest is forgotten if there are too many.
    pub fn begin(&mut self, attempt: Attempt) {
        if self.attempts.len() == MAX_ATTEMPTS {
            self.attempts.remove(0);
        }
        self.attempts.push(attempt);
    }

    /// The number of the next attempt.
    #[must_use]
    pub fn next_number(&self) -> u32 {
        self.attempts.last().map_or(0, |it| it.number) + 1
    }

    /// Whether an agent worked on it on a host.
    #[must_use]
    pub fn worked_on(&self, host: &str) -> bool {
        let mut attempts = self.attempts.iter();
        attempts.any(|it| it.turns > 0 && it.host.as_deref() == Some(host))
    }

    /// The last attempt if the end of the service ended it while its thread was known.
    #[must_use]
    pub fn interrupted(&self) -> Option<&Attempt> {
        let last = self.attempts.last()?;
        (last.status == Status::Interrupted).then_some(last)
    }
}

impl Attempt {
    /// What a thread used since its totals were last reported, which are these from now on. Threads beyond the first
    /// `MAX_THREADS` are not counted.
    pub fn used(&mut self, reported: Reported) -> Tokens {
        let Reported { thread_id, total } = reported;
        let is_full = self.totals.len() >= MAX_THREADS;
        if is_full && !self.totals.contains_key(&thread_id) {
            return Tokens::default();
        }
        let before = self.totals.insert(thread_id, total);
        total.since(before.unwrap_or_default())
    }
}

impl From<Usage> for Tokens {
    fn from(usage: Usage) -> Tokens {
        Tokens {
            input: usage.input,
            cached_input: usage.cached_input,
            output: usage.output,
            total: usage.total,
        }
    }
}

impl Tokens {
    /// What was added since earlier totals. Totals that are lower than before were counted from the beginning.
    #[must_use]
    pub fn since(self, before: Tokens) -> Tokens {
        if self.total < before.total {
            return self;
        }
        Tokens {
            input: self.input.saturating_sub(before.input),
            cached_input: self.cached_input.saturating_sub(before.cached_input),
            output: self.output.saturating_sub(before.output),
            total: self.total - before.total,
        }
    }

    /// What they cost.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "nobody has used 2^52 tokens yet"
    )]
    pub fn cost(self, price: Price) -> f64 {
        let fresh = self.input.saturating_sub(self.cached_input) as f64;
        let sum = fresh * price.input
            + self.cached_input as f64 * price.cached_input
            + self.output as f64 * price.output;
        sum / 1e6
    }
}

impl Spend {
    pub fn add(&mut self, tokens: Tokens, cost: f64) {
        self.tokens.input += tokens.input;
        self.tokens.cached_input += tokens.cached_input;
        self.tokens.output += tokens.output;
        self.tokens.total += tokens.total;
        self.cost += cost;
    }
}

impl Day {
    /// The day of a moment, with nothing spent.
    #[must_use]
    pub fn of(at: Millis) -> Day {
        Day {
            date: time::day(at),
            ..Day::default()
        }
    }
}

/// Where the files of one service are.
#[derive(Clone, Debug)]
pub struct Places {
    pub root: PathBuf,
}

impl Places {
    #[must_use]
    pub fn issue(&self, identifier: &str) -> PathBuf {
        let name = format!("{}.json", workspace::key(identifier));
        self.root.join("issues").join(name)
    }

    #[must_use]
    pub fn day(&self, date: &str) -> PathBuf {
        self.root.join("days").join(format!("{date}.json"))
    }

    /// The log of an attempt: everything that its session said.
    #[must_use]
    pub fn log(&self, identifier: &str, number: u32) -> PathBuf {
        self.of_attempt("logs", identifier, number, "jsonl")
    }

    /// What an attempt changed.
    #[must_use]
    pub fn patch(&self, identifier: &str, number: u32) -> PathBuf {
        self.of_attempt("patches", identifier, number, "patch")
    }

    /// Where the running service listens for operators.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.root.join("control.sock")
    }

    fn of_attempt(&self, kind: &str, identifier: &str, number: u32, ending: &str) -> PathBuf {
        let directory = self.root.join(kind).join(workspace::key(identifier));
        directory.join(format!("{number}.{ending}"))
    }

    /// The place of a service: one for each workflow file, below a home directory.
    #[must_use]
    pub fn of_workflow(home: &Path, workflow: &Path) -> Places {
        let directory = workflow.parent().and_then(Path::file_name);
        let name = directory.unwrap_or_default().to_string_lossy();
        // The hash distinguishes workflows whose directories have the same name.
        let identity = format!("{name}/{}", workflow.display());
        let short: String = name
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .take(20)
            .collect();
        let key = workspace::key(&identity);
        let hash = key.rsplit('-').next().unwrap_or_default();
        Places {
            root: home.join("runner").join(format!("{short}-{hash}")),
        }
    }
}

/// All records by the id of their issue.
pub type Records = BTreeMap<String, Record>;

mod stamp {
    //! Points in time are RFC 3339 in files.

    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer, de::Error as _};

    use super::{Millis, time};

    pub fn serialize<S: Serializer>(at: &Millis, to: S) -> Result<S::Ok, S::Error> {
        time::rfc3339(*at).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Millis, D::Error> {
        let text = String::deserialize(from)?;
        time::parse(&text).ok_or_else(|| D::Error::custom(format!("`{text}` is not a time")))
    }

    pub mod option {
        //! The same for what may not have happened yet.

        use super::{Deserializer, Millis, Serializer, time};
        use serde::{Deserialize as _, Serialize as _};

        pub fn serialize<S: Serializer>(at: &Option<Millis>, to: S) -> Result<S::Ok, S::Error> {
            at.map(time::rfc3339).serialize(to)
        }

        pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Millis>, D::Error> {
            let text = Option::<String>::deserialize(from)?;
            Ok(text.as_deref().and_then(time::parse))
        }
    }
}
