//! A look at what would be dispatched, before anything is started.

use super::message::{Effect, Job};
use super::{Orchestrator, Verdict};
use crate::time::{self, Millis};
use crate::tracker::Issue;

/// What a service that starts now would do with an issue, or why it would not. The issue counts as running from then
/// on.
pub fn preview(machine: &mut Orchestrator, now: Millis, issue: Issue) -> Result<Box<Job>, String> {
    let record = machine.records().get(&issue.id);
    let retry = record.and_then(|it| it.retry.clone());
    let is_due = retry.as_ref().is_some_and(|it| it.due_at <= now);
    match machine.verdict(now, &issue) {
        Verdict::Dispatch => {}
        Verdict::Claimed if is_due && machine.has_place(&issue) => {}
        Verdict::Claimed if is_due => return Err(Verdict::NoSlots.to_string()),
        why => {
            let due = retry.filter(|_| why == Verdict::Claimed);
            let due = due.map(|it| format!("tried again at {}", time::rfc3339(it.due_at)));
            return Err(due.unwrap_or_else(|| why.to_string()));
        }
    }
    let mut effects = Vec::new();
    machine.dispatch(now, issue, retry.map(|it| it.attempt), &mut effects);
    let job = effects.into_iter().find_map(|effect| match effect {
        Effect::Dispatch(job) => Some(job),
        _ => None,
    });
    job.ok_or_else(|| Verdict::NoSlots.to_string())
}
