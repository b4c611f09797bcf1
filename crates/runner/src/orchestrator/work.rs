//! What becomes of the work: what sessions say, what the tracker says of it, how it ends, and when it is tried again.

use super::message::{AgentEvent, Effect, Level, Outcome, StopReason};
use super::retry::{later, soon};
use super::{Cycle, Orchestrator, Verdict};
use crate::time::Millis;
use crate::tracker::{Issue, TrackerError};

impl Orchestrator {
    /// What the tracker says of the issues that are worked on.
    pub(super) fn refreshed(
        &mut self,
        now: Millis,
        ids: &[String],
        result: Result<Vec<Issue>, TrackerError>,
        out: &mut Vec<Effect>,
    ) {
        if self.cycle != Cycle::Reconciling {
            return;
        }
        match result {
            Err(error) => self.health.failed(now, "reconcile", &error, out),
            Ok(issues) => self.runs.reconcile(&self.config, ids, issues, out),
        }
        if self.stopping {
            self.cycle = Cycle::Idle;
        } else if self.health.quiet(now).is_some() {
            self.end_cycle(now, out);
        } else {
            self.look_for_work(now, out);
        }
    }

    /// A session said something.
    pub(super) fn heard(
        &mut self,
        now: Millis,
        issue_id: &str,
        event: AgentEvent,
        out: &mut Vec<Effect>,
    ) {
        let Some(run) = self.runs.by_issue.get_mut(issue_id) else {
            return;
        };
        run.hear(now, &event, self.config.observability.recent_events, out);
        if let Some(host) = &run.host {
            self.runs.unreachable.remove(host);
        }
        if event.thread_id.is_some() || event.turn_started {
            let turns = run.turns;
            let thread = event.thread_id;
            let note = |attempt: &mut crate::record::Attempt| {
                attempt.turns = turns;
                attempt.thread_id = thread.or(attempt.thread_id.take());
            };
            self.ledger.remember_attempt(issue_id, note, out);
        }
        if event.rate_limits.is_some() {
            self.ledger.rate_limits = event.rate_limits;
        }
        if let Some(reported) = event.tokens {
            let budget = &self.config.budget;
            let used = self
                .ledger
                .spend(now, issue_id, reported, budget.price, out);
            run.tokens = used.unwrap_or(run.tokens);
            let over = self.ledger.over_issue_budget(budget, issue_id);
            if let Some(which) = over.filter(|_| run.stop.is_none()) {
                let entry = run
                    .entry(Level::Warn, "budget_used_up")
                    .field("budget", which);
                out.push(Effect::Log(entry));
                self.runs.stop(issue_id, StopReason::Budget, out);
            }
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
        let Some(run) = self.runs.by_issue.remove(issue_id) else {
            return;
        };
        self.ledger.ended_ms += now - run.started_at;
        let failure = outcome.failure.as_ref();
        self.runs.note_host(&run, failure);
        let (status, error) = (run.status(failure), run.error(failure));
        run.log_end(status, error.as_deref(), out);
        let ended = |attempt: &mut crate::record::Attempt| {
            attempt.status = status;
            attempt.ended_at = Some(now);
            attempt.error.clone_from(&error);
            attempt.patch = outcome.patch;
            attempt.branch = outcome.branch;
        };
        self.ledger.remember_attempt(issue_id, ended, out);
        // An agent that moves its issue on may be ended before it comes to its own end.
        let moved_on = matches!(run.stop, Some(StopReason::Terminal | StopReason::NotActive));
        if moved_on || (run.stop.is_none() && error.is_none()) {
            self.completed.insert(issue_id.to_owned());
        }
        let names = (run.identifier.as_str(), run.issue.url.clone());
        match (run.stop, error) {
            (Some(StopReason::Terminal), _) => self.clean(issue_id, &run.identifier, out),
            (None | Some(StopReason::Stalled), Some(error)) => {
                let next = run.attempt.unwrap_or(0).saturating_add(1);
                self.try_later(now, issue_id, names, next, error, out);
            }
            (None, None) => {
                let (retry, ledger) = (soon(now), &mut self.ledger);
                self.retries.wait(now, issue_id, names, retry, ledger, out);
            }
            (Some(_), _) => {}
        }
        self.place_is_free(now, out);
    }

    /// What the tracker says of an issue whose retry is due.
    pub(super) fn retry_asked(
        &mut self,
        now: Millis,
        issue_id: &str,
        result: Result<Vec<Issue>, TrackerError>,
        out: &mut Vec<Effect>,
    ) {
        let waiting = self.retries.by_issue.get(issue_id).cloned();
        let Some(waiting) = waiting.filter(|it| it.asking) else {
            return;
        };
        let names = (waiting.identifier.as_str(), waiting.url.clone());
        let attempt = waiting.retry.attempt;
        let issue = match result {
            Err(error) => {
                let error = format!("retry refresh failed: {error}");
                return self.try_later(now, issue_id, names, attempt + 1, error, out);
            }
            Ok(issues) => issues.into_iter().find(|it| it.id == issue_id),
        };
        let Some(issue) = issue else {
            return self.release(issue_id, "it is no longer visible", out);
        };
        if self.config.is_terminal(&issue.state) {
            self.release(issue_id, "it is done", out);
            return self.clean(issue_id, &waiting.identifier, out);
        }
        match self.eligible(now, &issue) {
            Verdict::Dispatch if self.workspace_is_taken(&issue) => {
                self.release(issue_id, &Verdict::SameWorkspace.to_string(), out);
            }
            Verdict::Dispatch if self.invalid.is_some() => {
                let error = "the workflow cannot be used".to_owned();
                self.try_later(now, issue_id, names, attempt, error, out);
            }
            Verdict::Dispatch if !self.has_place(&issue) => {
                let error = Verdict::NoSlots.to_string();
                self.try_later(now, issue_id, names, attempt + 1, error, out);
            }
            Verdict::Dispatch => self.dispatch(now, issue, Some(attempt), out),
            why => self.release(issue_id, &why.to_string(), out),
        }
    }

    fn try_later(
        &mut self,
        now: Millis,
        issue_id: &str,
        names: (&str, Option<String>),
        attempt: u32,
        error: String,
        out: &mut Vec<Effect>,
    ) {
        let most = self.config.agent.max_retry_backoff.as_millis();
        let most = Millis::try_from(most).unwrap_or(Millis::MAX);
        let retry = later(now, attempt, most, error);
        self.retries
            .wait(now, issue_id, names, retry, &mut self.ledger, out);
    }

    pub(super) fn release(&mut self, issue_id: &str, why: &str, out: &mut Vec<Effect>) {
        self.retries.release(issue_id, why, &mut self.ledger, out);
    }
}
