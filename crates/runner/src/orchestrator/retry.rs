//! Issues that are tried again: soon after a clean end, later and later after failures.

use std::collections::BTreeMap;

use super::ledger::Ledger;
use super::message::{Effect, Entry, Level};
use crate::record::Retry;
use crate::time::Millis;
use crate::workspace;

/// How soon an issue is looked at again after a clean end.
const CONTINUATION_MS: Millis = 1_000;
/// The first pause after a failure; each further one doubles it.
const FIRST_PAUSE_MS: Millis = 10_000;

/// An issue that waits for its retry.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub identifier: String,
    pub url: Option<String>,
    pub retry: Retry,
    /// Which timer counts; older ones were replaced.
    generation: u64,
    /// The tracker is being asked.
    pub asking: bool,
}

/// The issues that wait, by id.
#[derive(Debug, Default)]
pub(super) struct Retries {
    pub by_issue: BTreeMap<String, Waiting>,
    generation: u64,
}

/// A retry after a clean end.
pub(super) fn soon(now: Millis) -> Retry {
    Retry {
        attempt: 1,
        due_at: now + CONTINUATION_MS,
        error: None,
    }
}

/// A retry after a failure.
pub(super) fn later(now: Millis, attempt: u32, most: Millis, error: String) -> Retry {
    let doublings = attempt.saturating_sub(1).min(40);
    let pause = FIRST_PAUSE_MS.saturating_mul(1 << doublings);
    Retry {
        attempt,
        due_at: now + pause.min(most),
        error: Some(error),
    }
}

impl Retries {
    /// Lets an issue wait, in place of what it waited for before.
    pub fn wait(
        &mut self,
        now: Millis,
        issue_id: &str,
        (identifier, url): (&str, Option<String>),
        retry: Retry,
        ledger: &mut Ledger,
        out: &mut Vec<Effect>,
    ) {
        self.generation += 1;
        let kept = retry.clone();
        ledger.remember(issue_id, |record| record.retry = Some(kept), out);
        let after_ms = (retry.due_at - now).max(0);
        if let Some(error) = &retry.error {
            let entry = Entry::of_issue(Level::Warn, "retrying", issue_id, identifier)
                .field("attempt", retry.attempt)
                .field("after_ms", after_ms)
                .field("error", error);
            out.push(Effect::Log(entry));
        }
        let waiting = Waiting {
            identifier: identifier.to_owned(),
            url,
            retry,
            generation: self.generation,
            asking: false,
        };
        self.by_issue.insert(issue_id.to_owned(), waiting);
        out.push(Effect::RetryTimer {
            issue_id: issue_id.to_owned(),
            generation: self.generation,
            after_ms,
        });
    }

    /// The timer of a retry ran out.
    pub fn due(&mut self, issue_id: &str, generation: u64, out: &mut Vec<Effect>) {
        if let Some(waiting) = self.by_issue.get_mut(issue_id)
            && waiting.generation == generation
            && !waiting.asking
        {
            waiting.asking = true;
            out.push(Effect::AskForRetry {
                issue_id: issue_id.to_owned(),
            });
        }
    }

    /// Gives up the claim on an issue that waits.
    pub fn release(
        &mut self,
        issue_id: &str,
        why: &str,
        ledger: &mut Ledger,
        out: &mut Vec<Effect>,
    ) {
        if let Some(waiting) = self.by_issue.remove(issue_id) {
            let entry = Entry::of_issue(Level::Info, "released", issue_id, &waiting.identifier)
                .field("reason", why);
            out.push(Effect::Log(entry));
        }
        ledger.remember(issue_id, |record| record.retry = None, out);
    }

    /// Whether another issue that waits has this workspace.
    pub fn use_workspace(&self, key: &str, issue_id: &str) -> bool {
        let mut waiting = self.by_issue.iter();
        waiting.any(|(id, it)| id != issue_id && workspace::key(&it.identifier) == key)
    }
}
