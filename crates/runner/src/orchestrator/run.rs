//! One running worker, as far as the orchestrator knows it.

use std::collections::VecDeque;

use super::message::{AgentEvent, Effect, Entry, Failure, Level, StopReason};
use crate::record::{Status, Tokens};
use crate::time::Millis;
use crate::tracker::Issue;

/// Characters of a message in them.
const MESSAGE: usize = 200;

/// A worker that was started and has not ended.
#[derive(Debug)]
pub(super) struct Run {
    pub issue: Issue,
    /// The name at the start; trackers may rename issues, workspaces stay.
    pub identifier: String,
    pub attempt: Option<u32>,
    pub host: Option<String>,
    pub started_at: Millis,
    /// When it was last heard of.
    pub heard_at: Option<Millis>,
    pub session_id: Option<String>,
    pub pid: Option<u32>,
    pub turns: u32,
    pub tokens: Tokens,
    pub recent: VecDeque<Heard>,
    pub stop: Option<StopReason>,
}

/// What was heard of a run.
#[derive(Clone, Debug)]
pub(super) struct Heard {
    pub at: Millis,
    pub event: &'static str,
    pub message: String,
}

impl Run {
    pub fn new(issue: Issue, attempt: Option<u32>, host: Option<String>, now: Millis) -> Run {
        Run {
            identifier: issue.identifier.clone(),
            issue,
            attempt,
            host,
            started_at: now,
            heard_at: None,
            session_id: None,
            pid: None,
            turns: 0,
            tokens: Tokens::default(),
            recent: VecDeque::new(),
            stop: None,
        }
    }

    /// Takes note of what the session said. Snapshots show so many of the latest events.
    pub fn hear(&mut self, now: Millis, event: &AgentEvent, recent: usize, out: &mut Vec<Effect>) {
        self.heard_at = Some(now);
        self.pid = event.pid.or(self.pid);
        if event.session_id.is_some() {
            self.session_id.clone_from(&event.session_id);
        }
        if event.turn_started {
            self.turns += 1;
            let entry = self
                .entry(Level::Info, event.name)
                .field("turn", self.turns);
            out.push(Effect::Log(entry));
        }
        self.recent.push_back(Heard {
            at: now,
            event: event.name,
            message: event.message.chars().take(MESSAGE).collect(),
        });
        let surplus = self.recent.len().saturating_sub(recent);
        self.recent.drain(..surplus);
    }

    /// How it ended.
    pub fn status(&self, failure: Option<&Failure>) -> Status {
        match (self.stop, failure) {
            (Some(StopReason::Terminal | StopReason::NotActive), _) => {
                Status::CanceledByReconciliation
            }
            (Some(StopReason::Stalled), _) => Status::Stalled,
            (Some(StopReason::Operator), _) => Status::CanceledByOperator,
            (Some(StopReason::Budget), _) => Status::OverBudget,
            (Some(StopReason::Shutdown), _) => Status::Interrupted,
            (None, None) => Status::Succeeded,
            (None, Some(failure)) => match failure.code {
                "turn_timeout" | "response_timeout" | "hook_timeout" => Status::TimedOut,
                _ => Status::Failed,
            },
        }
    }

    /// What went wrong, if something did.
    pub fn error(&self, failure: Option<&Failure>) -> Option<String> {
        match self.stop {
            Some(StopReason::Stalled) => Some("the session stalled".to_owned()),
            Some(_) => None,
            None => failure.map(Failure::to_string),
        }
    }

    pub fn log_end(&self, status: Status, error: Option<&str>, out: &mut Vec<Effect>) {
        let level = match error {
            Some(_) => Level::Error,
            None => Level::Info,
        };
        let outcome = serde_json::to_value(status).unwrap_or_default();
        let mut entry = self
            .entry(level, "run_ended")
            .field("outcome", outcome.as_str().unwrap_or_default())
            .field("turns", self.turns)
            .field("total_tokens", self.tokens.total);
        if let Some(error) = error {
            entry = entry.field("error", error);
        }
        out.push(Effect::Log(entry));
    }

    /// An entry of the log about it.
    pub fn entry(&self, level: Level, event: &'static str) -> Entry {
        Entry::of_issue(level, event, &self.issue.id, &self.identifier)
            .session(self.session_id.as_deref())
    }
}
