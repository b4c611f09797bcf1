//! Issues that are tried again: soon after a clean end, later and later after failures.

use super::message::{Effect, Entry, Level};
use super::{Orchestrator, Verdict};
use crate::record::Retry;
use crate::time::Millis;
use crate::tracker::{Issue, TrackerError};

/// How soon an issue is looked at again after a clean end.
pub const CONTINUATION_MS: Millis = 1_000;
/// The first pause after a failure; each further one doubles it.
pub const FIRST_PAUSE_MS: Millis = 10_000;

/// An issue that waits for its retry.
#[derive(Debug)]
pub(super) struct Waiting {
    pub identifier: String,
    pub url: Option<String>,
    pub retry: Retry,
    /// Which timer counts; older ones were replaced.
    pub generation: u64,
    /// The tracker is being asked.
    pub asking: bool,
}

/// The pause before an attempt.
#[must_use]
pub fn pause(attempt: u32, most: Millis) -> Millis {
    let doublings = attempt.saturating_sub(1).min(40);
    let pause = FIRST_PAUSE_MS.saturating_mul(1 << doublings);
    pause.min(most)
}

impl Orchestrator {
    /// After a clean end.
    pub(super) fn continue_soon(
        &mut self,
        now: Millis,
        issue_id: &str,
        identifier: &str,
        url: Option<String>,
        out: &mut Vec<Effect>,
    ) {
        let retry = Retry {
            attempt: 1,
            due_at: now + CONTINUATION_MS,
            error: None,
        };
        self.wait(now, issue_id, identifier, url, retry, out);
    }

    /// After a failure.
    #[expect(clippy::too_many_arguments, reason = "each is a field of the retry")]
    pub(super) fn retry_later(
        &mut self,
        now: Millis,
        issue_id: &str,
        identifier: &str,
        url: Option<String>,
        attempt: u32,
        error: String,
        out: &mut Vec<Effect>,
    ) {
        let most = self.config.agent.max_retry_backoff.as_millis();
        let after = pause(attempt, Millis::try_from(most).unwrap_or(Millis::MAX));
        let entry = Entry::of_issue(Level::Warn, "retrying", issue_id, identifier)
            .field("attempt", attempt)
            .field("after_ms", after)
            .field("error", &error);
        out.push(Effect::Log(entry));
        let retry = Retry {
            attempt,
            due_at: now + after,
            error: Some(error),
        };
        self.wait(now, issue_id, identifier, url, retry, out);
    }

    fn wait(
        &mut self,
        now: Millis,
        issue_id: &str,
        identifier: &str,
        url: Option<String>,
        retry: Retry,
        out: &mut Vec<Effect>,
    ) {
        self.generation += 1;
        let after_ms = (retry.due_at - now).max(0);
        let kept = retry.clone();
        self.remember(issue_id, |record| record.retry = Some(kept), out);
        self.retries.insert(
            issue_id.to_owned(),
            Waiting {
                identifier: identifier.to_owned(),
                url,
                retry,
                generation: self.generation,
                asking: false,
            },
        );
        out.push(Effect::RetryTimer {
            issue_id: issue_id.to_owned(),
            generation: self.generation,
            after_ms,
        });
    }

    /// A retry that waited when the service ended.
    pub(super) fn restore_retry(
        &mut self,
        now: Millis,
        issue_id: &str,
        retry: Retry,
        out: &mut Vec<Effect>,
    ) {
        if let Some(record) = self.records.get(issue_id) {
            let (identifier, url) = (record.identifier.clone(), record.url.clone());
            self.wait(now, issue_id, &identifier, url, retry, out);
        }
    }

    pub(super) fn retry_due(&mut self, issue_id: &str, generation: u64, out: &mut Vec<Effect>) {
        if let Some(waiting) = self.retries.get_mut(issue_id)
            && waiting.generation == generation
            && !waiting.asking
            && !self.stopping
        {
            waiting.asking = true;
            out.push(Effect::AskForRetry {
                issue_id: issue_id.to_owned(),
            });
        }
    }

    /// What the tracker says of an issue whose retry is due.
    pub(super) fn retry_asked(
        &mut self,
        now: Millis,
        issue_id: &str,
        result: Result<Vec<Issue>, TrackerError>,
        out: &mut Vec<Effect>,
    ) {
        let Some(waiting) = self.retries.get(issue_id).filter(|it| it.asking) else {
            return;
        };
        let (identifier, url) = (waiting.identifier.clone(), waiting.url.clone());
        let attempt = waiting.retry.attempt;
        let mut again = |machine: &mut Self, attempt: u32, error: String| {
            machine.retry_later(now, issue_id, &identifier, url.clone(), attempt, error, out);
        };
        let issue = match result {
            Err(error) => {
                let error = format!("retry refresh failed: {error}");
                return again(self, attempt.saturating_add(1), error);
            }
            Ok(issues) => issues.into_iter().find(|it| it.id == issue_id),
        };
        let Some(issue) = issue else {
            return self.release(issue_id, "it is no longer visible", out);
        };
        if self.config.is_terminal(&issue.state) {
            self.release(issue_id, "it is done", out);
            return self.clean(issue_id, &identifier, out);
        }
        match self.eligible(now, &issue) {
            Verdict::Dispatch => {}
            why => return self.release(issue_id, &why.to_string(), out),
        }
        if self.workspace_is_taken(issue_id, &issue.identifier) {
            return self.release(issue_id, &Verdict::SameWorkspace.to_string(), out);
        }
        if let Some(error) = &self.invalid {
            let error = format!("the workflow cannot be used: {error}");
            return again(self, attempt, error);
        }
        if !self.has_slot(&issue.state) || self.host(&issue).is_err() {
            let error = Verdict::NoSlots.to_string();
            return again(self, attempt.saturating_add(1), error);
        }
        self.dispatch(now, issue, Some(attempt), out);
    }

    /// Gives up the claim on an issue that waits for its retry.
    pub(super) fn release(&mut self, issue_id: &str, why: &str, out: &mut Vec<Effect>) {
        if let Some(waiting) = self.retries.remove(issue_id) {
            let entry = Entry::of_issue(Level::Info, "released", issue_id, &waiting.identifier)
                .field("reason", why);
            out.push(Effect::Log(entry));
        }
        self.remember(issue_id, |record| record.retry = None, out);
    }
}
