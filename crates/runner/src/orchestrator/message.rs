//! What goes into the state machine and what comes out of it.

use std::fmt::Display;
use std::sync::Arc;

use serde_json::Value;

use crate::config::Config;
use crate::record::{Day, Record, Tokens};
use crate::time::Millis;
use crate::tracker::{Issue, TrackerError};

/// What happened.
#[derive(Clone, Debug)]
pub enum Input {
    /// The service begins.
    Started,
    /// It is time to poll, or somebody asked for it.
    Tick,
    /// The workflow was changed: its settings, or why they cannot be used.
    Reloaded(Result<Arc<Config>, String>),
    /// The answer to [`Effect::Refresh`].
    Refreshed {
        ids: Vec<String>,
        result: Result<Vec<Issue>, TrackerError>,
    },
    /// The answer to [`Effect::Poll`].
    Polled(Result<Vec<Issue>, TrackerError>),
    /// The timer of a retry ran out.
    RetryDue { issue_id: String, generation: u64 },
    /// The answer to [`Effect::AskForRetry`].
    RetryAsked {
        issue_id: String,
        result: Result<Vec<Issue>, TrackerError>,
    },
    /// The agent of an issue did something.
    Agent {
        issue_id: String,
        event: Box<AgentEvent>,
    },
    /// The worker of an issue has ended, and no process of it is left.
    Exited { issue_id: String, outcome: Outcome },
    /// A workspace was removed, or could not be.
    Cleaned { issue_id: String, removed: bool },
    /// The service shall end.
    Stop,
}

/// What is to be done, in order.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Ask the tracker for these issues.
    Refresh { ids: Vec<String> },
    /// Ask the tracker for the issues in these states.
    Poll { states: Vec<String> },
    /// Poll after this time, or earlier if that was planned.
    Tick { after_ms: Millis },
    /// Give the retry its turn after this time.
    RetryTimer {
        issue_id: String,
        generation: u64,
        after_ms: Millis,
    },
    /// Ask the tracker for an issue whose retry is due.
    AskForRetry { issue_id: String },
    /// Start a worker. Its record is stored first.
    Dispatch(Box<Job>),
    /// End the worker of an issue.
    Stop { issue_id: String },
    /// Remove a workspace.
    Clean {
        issue_id: String,
        identifier: String,
    },
    /// Store what is remembered of an issue.
    Save(Box<Record>),
    /// Store what the day has cost.
    SaveDay(Day),
    /// For operators.
    Log(Entry),
    /// Nothing runs any more.
    Finished,
}

/// What a worker shall do.
#[derive(Clone, Debug)]
pub struct Job {
    pub issue: Issue,
    /// Nothing for a first run.
    pub attempt: Option<u32>,
    /// The thread to go on with.
    pub resume: Option<Resume>,
    /// The machine to work on; nothing for this one.
    pub host: Option<String>,
    /// What is remembered of the issue, this attempt included.
    pub record: Record,
    /// The settings that hold for the whole attempt.
    pub config: Arc<Config>,
}

impl Job {
    /// The number of this attempt among all of its issue.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.record.attempts.last().map_or(1, |it| it.number)
    }
}

/// A thread that the end of the service interrupted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resume {
    pub thread_id: String,
}

/// What a session said, as far as it counts here.
#[derive(Clone, Debug, Default)]
pub struct AgentEvent {
    /// Its name, such as `session_started`.
    pub name: &'static str,
    /// In a few words.
    pub message: String,
    pub session_id: Option<String>,
    pub thread_id: Option<String>,
    pub turn_started: bool,
    pub pid: Option<u32>,
    pub tokens: Option<Reported>,
    pub rate_limits: Option<Value>,
}

/// The tokens that a thread has used in all. The agents of a turn have threads of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    pub thread_id: String,
    pub total: Tokens,
}

/// How a worker ended.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub failure: Option<Failure>,
    /// Whether its changes are stored as a patch.
    pub patch: bool,
    /// The branch with its changes.
    pub branch: Option<String>,
}

/// Why a worker failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// A name that does not change between versions.
    pub code: &'static str,
    pub message: String,
}

impl Failure {
    pub fn new(code: &'static str, message: impl Display) -> Failure {
        Failure {
            code,
            message: message.to_string(),
        }
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

/// Why a worker is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StopReason {
    /// The issue is done: its workspace goes, too.
    Terminal,
    /// The issue is not to be worked on.
    NotActive,
    Stalled,
    Operator,
    Budget,
    Shutdown,
}

/// How much an entry matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Info,
    Warn,
    Error,
}

/// One event of the log, with its fields.
#[derive(Clone, Debug)]
pub struct Entry {
    pub level: Level,
    pub event: &'static str,
    pub issue_id: Option<String>,
    pub issue_identifier: Option<String>,
    pub session_id: Option<String>,
    pub fields: Vec<(&'static str, String)>,
}

impl Entry {
    #[must_use]
    pub fn new(level: Level, event: &'static str) -> Entry {
        Entry {
            level,
            event,
            issue_id: None,
            issue_identifier: None,
            session_id: None,
            fields: Vec::new(),
        }
    }

    #[must_use]
    pub fn of_issue(level: Level, event: &'static str, id: &str, identifier: &str) -> Entry {
        Entry {
            issue_id: Some(id.to_owned()),
            issue_identifier: Some(identifier.to_owned()),
            ..Entry::new(level, event)
        }
    }

    #[must_use]
    pub fn of_record(level: Level, event: &'static str, record: &Record) -> Entry {
        Entry::of_issue(level, event, &record.issue_id, &record.identifier)
    }

    #[must_use]
    pub fn field(mut self, name: &'static str, value: impl Display) -> Entry {
        self.fields.push((name, value.to_string()));
        self
    }

    /// The value of a field.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        let field = self.fields.iter().find(|it| it.0 == name);
        field.map(|it| it.1.as_str())
    }

    #[must_use]
    pub fn session(mut self, id: Option<&str>) -> Entry {
        self.session_id = id.map(str::to_owned);
        self
    }
}
