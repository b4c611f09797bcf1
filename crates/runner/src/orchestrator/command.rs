//! What operators ask for.

use super::message::{Effect, StopReason};
use super::snapshot::unworked;
use super::{Cycle, Orchestrator, Verdict};
use crate::time::Millis;

/// A request of an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Poll now.
    Refresh,
    /// Work on an issue now: it need not wait for its retry, and is not held any more.
    Retry { identifier: String },
    /// End the work on an issue, and hold it until it is asked for.
    Cancel { identifier: String },
}

/// What becomes of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// In one word: `queued`, `coalesced`, `waiting`, `stopping` or `held`.
    pub outcome: &'static str,
    /// What the issue waits for, as of the last poll.
    pub reason: Option<String>,
}

impl Done {
    fn new(outcome: &'static str) -> Done {
        Done {
            outcome,
            reason: None,
        }
    }

    fn waiting(reason: impl ToString) -> Done {
        Done {
            outcome: "waiting",
            reason: Some(reason.to_string()),
        }
    }
}

/// Why a request was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    #[error("the service knows no issue `{0}`")]
    UnknownIssue(String),
    #[error("`{0}` is running")]
    Running(String),
    #[error("the service is stopping")]
    Stopping,
}

impl Orchestrator {
    /// Does what an operator asks for, and says what becomes of it. For [`Command::Refresh`] that is whether a poll was
    /// under way already.
    pub fn command(
        &mut self,
        now: Millis,
        command: &Command,
    ) -> (Result<Done, CommandError>, Vec<Effect>) {
        let mut out = Vec::new();
        if self.stopping {
            return (Err(CommandError::Stopping), out);
        }
        let done = match command {
            Command::Refresh => {
                let coalesced = self.cycle != Cycle::Idle;
                self.health.ask_now();
                self.tick(now, &mut out);
                Ok(Done::new(if coalesced { "coalesced" } else { "queued" }))
            }
            Command::Retry { identifier } => self.retry_now(now, identifier, &mut out),
            Command::Cancel { identifier } => self.cancel(identifier, &mut out),
        };
        (done, out)
    }

    fn retry_now(
        &mut self,
        now: Millis,
        identifier: &str,
        out: &mut Vec<Effect>,
    ) -> Result<Done, CommandError> {
        let id = self.id_of(identifier)?;
        if self.runs.by_issue.contains_key(&id) {
            return Err(CommandError::Running(identifier.to_owned()));
        }
        self.ledger.remember(&id, |record| record.held = None, out);
        match self.retries.by_issue.get(&id).cloned() {
            Some(waiting) => {
                let names = (waiting.identifier.as_str(), waiting.url);
                let mut retry = waiting.retry;
                retry.due_at = now;
                self.retries
                    .wait(now, &id, names, retry, &mut self.ledger, out);
            }
            None => self.tick(now, out),
        }
        Ok(prospect(self, &id))
    }

    fn cancel(&mut self, identifier: &str, out: &mut Vec<Effect>) -> Result<Done, CommandError> {
        let id = self.id_of(identifier)?;
        if !self.ledger.records.contains_key(&id) {
            let seen = self.idle.iter().find(|it| it.issue_id == id);
            if let Some(seen) = seen {
                self.ledger.records.insert(id.clone(), unworked(seen));
            }
        }
        let why = "cancelled by an operator".to_owned();
        self.ledger
            .remember(&id, |record| record.held = Some(why), out);
        self.release(&id, "cancelled by an operator", out);
        match self.runs.by_issue.contains_key(&id) {
            true => {
                self.runs.stop(&id, StopReason::Operator, out);
                Ok(Done::new("stopping"))
            }
            false => Ok(Done::new("held")),
        }
    }

    /// The id of an issue that is running, waiting, remembered, or was found by the last poll.
    fn id_of(&self, identifier: &str) -> Result<String, CommandError> {
        let mut runs = self.runs.by_issue.iter();
        let running = runs.find(|it| it.1.identifier == identifier);
        let known = self
            .ledger
            .records
            .values()
            .find(|it| it.identifier == identifier);
        let idle = self.idle.iter().find(|it| it.identifier == identifier);
        let id = running
            .map(|it| it.0)
            .or(known.map(|it| &it.issue_id))
            .or(idle.map(|it| &it.issue_id));
        id.cloned()
            .ok_or_else(|| CommandError::UnknownIssue(identifier.to_owned()))
    }
}

/// What an issue that shall be worked on now still waits for, which only the tracker or the workflow can change.
fn prospect(orchestrator: &Orchestrator, id: &str) -> Done {
    if let Some(error) = &orchestrator.invalid {
        return Done::waiting(format!("the workflow cannot be used: {error}"));
    }
    let seen = orchestrator.idle.iter().find(|it| it.issue_id == id);
    match seen.map(|it| &it.why) {
        None if orchestrator.last_poll.is_some() && !orchestrator.listed.contains(id) => {
            Done::waiting("the last poll did not find it in an active state")
        }
        // It was held until now.
        None | Some(Verdict::Held(_)) => Done::new("queued"),
        Some(why) => Done::waiting(why),
    }
}
