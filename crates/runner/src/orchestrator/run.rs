//! One running worker, from what it says to its end.

use std::collections::VecDeque;

use super::Orchestrator;
use super::dispatch::over_issue_budget;
use super::message::{AgentEvent, Effect, Entry, Failure, Level, Outcome, StopReason};
use crate::record::{Attempt, Status, Tokens};
use crate::time::Millis;
use crate::tracker::Issue;

/// Events of a run that snapshots show.
const RECENT: usize = 20;
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
}

impl Orchestrator {
    /// A session said something.
    pub(super) fn heard(
        &mut self,
        now: Millis,
        issue_id: &str,
        event: AgentEvent,
        out: &mut Vec<Effect>,
    ) {
        let Some(run) = self.runs.get_mut(issue_id) else {
            return;
        };
        run.heard_at = Some(now);
        run.pid = event.pid.or(run.pid);
        if event.session_id.is_some() {
            run.session_id.clone_from(&event.session_id);
        }
        if event.turn_started {
            run.turns += 1;
            let entry = Entry::of_issue(Level::Info, event.name, issue_id, &run.identifier)
                .session(run.session_id.as_deref())
                .field("turn", run.turns);
            out.push(Effect::Log(entry));
        }
        if run.recent.len() == RECENT {
            run.recent.pop_front();
        }
        run.recent.push_back(Heard {
            at: now,
            event: event.name,
            message: event.message.chars().take(MESSAGE).collect(),
        });
        let turns = run.turns;
        if event.rate_limits.is_some() {
            self.rate_limits = event.rate_limits;
        }
        let thread = event.thread_id;
        if thread.is_some() || event.turn_started {
            let change = |attempt: &mut Attempt| {
                attempt.turns = turns;
                if let Some(thread) = thread {
                    attempt.thread_id = Some(thread);
                }
            };
            self.remember(
                issue_id,
                |it| it.attempts.last_mut().map_or((), change),
                out,
            );
        }
        if let Some(tokens) = event.tokens {
            self.spend(now, issue_id, tokens, out);
        }
    }

    /// Counts what a thread used since it was last heard of, and ends a run that has used up its issue's budget.
    fn spend(&mut self, now: Millis, issue_id: &str, total: Tokens, out: &mut Vec<Effect>) {
        let price = self.config.budget.price;
        let Some(record) = self.records.get_mut(issue_id) else {
            return;
        };
        let Some(attempt) = record.attempts.last_mut() else {
            return;
        };
        let used = total.since(attempt.reported);
        let cost = used.cost(price);
        attempt.reported = total;
        attempt.spent.add(used, cost);
        let tokens = attempt.spent.tokens;
        record.spent.add(used, cost);
        let over = over_issue_budget(&self.config, Some(record));
        out.push(Effect::Save(Box::new(record.clone())));
        self.totals.add(used, cost);
        self.today(now).spent.add(used, cost);
        out.push(Effect::SaveDay(self.day.clone()));
        let Some(run) = self.runs.get_mut(issue_id) else {
            return;
        };
        run.tokens = tokens;
        if let Some(which) = over.filter(|_| run.stop.is_none()) {
            let entry = Entry::of_issue(Level::Warn, "budget_used_up", issue_id, &run.identifier)
                .session(run.session_id.as_deref())
                .field("budget", which);
            out.push(Effect::Log(entry));
            self.stop(issue_id, StopReason::Budget, out);
        }
    }

    /// Asks for the end of a worker; its place is free when it has ended.
    pub(super) fn stop(&mut self, issue_id: &str, reason: StopReason, out: &mut Vec<Effect>) {
        let Some(run) = self.runs.get_mut(issue_id) else {
            return;
        };
        let first = run.stop.is_none();
        // An issue that is done while its run stalls is cleaned up all the same.
        if first || reason == StopReason::Terminal {
            run.stop = Some(reason);
        }
        if first {
            out.push(Effect::Stop {
                issue_id: issue_id.to_owned(),
            });
        }
    }

    /// A worker has ended.
    pub(super) fn exited(
        &mut self,
        now: Millis,
        issue_id: &str,
        outcome: Outcome,
        out: &mut Vec<Effect>,
    ) {
        let Some(run) = self.runs.remove(issue_id) else {
            return;
        };
        self.ended_ms += now - run.started_at;
        let status = status(run.stop, outcome.failure.as_ref());
        let error = match run.stop {
            Some(StopReason::Stalled) => Some("the session stalled".to_owned()),
            Some(_) => None,
            None => outcome.failure.as_ref().map(Failure::to_string),
        };
        log_end(&run, status, error.as_deref(), out);
        let (patch, branch) = (outcome.patch, outcome.branch);
        let ended_error = error.clone();
        let end = |attempt: &mut Attempt| {
            attempt.status = status;
            attempt.ended_at = Some(now);
            attempt.error = ended_error;
            attempt.patch = patch;
            attempt.branch = branch;
        };
        self.remember(issue_id, |it| it.attempts.last_mut().map_or((), end), out);
        let next = run.attempt.unwrap_or(0).saturating_add(1);
        match (run.stop, error) {
            (Some(StopReason::Terminal), _) => self.clean(issue_id, &run.identifier, out),
            (None | Some(StopReason::Stalled), Some(error)) => {
                self.last_error = Some(format!("{}: {error}", run.identifier));
                self.retry_later(
                    now,
                    issue_id,
                    &run.identifier,
                    run.issue.url,
                    next,
                    error,
                    out,
                );
            }
            (None, None) => {
                self.completed.insert(issue_id.to_owned());
                self.continue_soon(now, issue_id, &run.identifier, run.issue.url, out);
            }
            (Some(_), _) => {}
        }
        self.place_is_free(now, out);
    }
}

fn log_end(run: &Run, status: Status, error: Option<&str>, out: &mut Vec<Effect>) {
    let level = match error {
        Some(_) => Level::Error,
        None => Level::Info,
    };
    let outcome = serde_json::to_value(status).unwrap_or_default();
    let mut entry = Entry::of_issue(level, "run_ended", &run.issue.id, &run.identifier)
        .session(run.session_id.as_deref())
        .field("outcome", outcome.as_str().unwrap_or_default())
        .field("turns", run.turns)
        .field("total_tokens", run.tokens.total);
    if let Some(error) = error {
        entry = entry.field("error", error);
    }
    out.push(Effect::Log(entry));
}

fn status(stop: Option<StopReason>, failure: Option<&Failure>) -> Status {
    match (stop, failure) {
        (Some(StopReason::Terminal | StopReason::NotActive), _) => Status::CanceledByReconciliation,
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
