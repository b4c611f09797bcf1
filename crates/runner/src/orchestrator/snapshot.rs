//! What operators see of the state, in the shape of the HTTP interface.

use serde_json::{Value, json};

use super::retry::Waiting;
use super::run::Run;
use super::{Idle, Orchestrator};
use crate::record::{Attempt, Places, Record, Spend, Tokens};
use crate::time::{Millis, rfc3339};
use crate::tracker::Issue;
use crate::workspace;

/// The whole state.
#[must_use]
pub fn state(machine: &Orchestrator, now: Millis) -> Value {
    let live: Millis = machine
        .runs
        .by_issue
        .values()
        .map(|it| now - it.started_at)
        .sum();
    let running: Vec<Value> = machine
        .runs
        .by_issue
        .iter()
        .map(|(id, run)| running(id, run))
        .collect();
    let retrying = machine
        .retries
        .by_issue
        .iter()
        .map(|(id, it)| retrying(id, it));
    let retrying: Vec<Value> = retrying.collect();
    let waiting = machine.idle.iter().map(|it| {
        json!({
            "issue_id": it.issue_id,
            "issue_identifier": it.identifier,
            "issue_url": it.url,
            "title": it.title,
            "state": it.state,
            "reason": it.why.to_string(),
        })
    });
    let waiting: Vec<Value> = waiting.collect();
    json!({
        "generated_at": rfc3339(now),
        "counts": {
            "running": running.len(),
            "retrying": retrying.len(),
            "waiting": waiting.len(),
            "completed": machine.completed.len(),
        },
        "running": running,
        "retrying": retrying,
        "waiting": waiting,
        "codex_totals": {
            "input_tokens": machine.ledger.totals.tokens.input,
            "output_tokens": machine.ledger.totals.tokens.output,
            "total_tokens": machine.ledger.totals.tokens.total,
            "cost": machine.ledger.totals.cost,
            "seconds_running": seconds(machine.ledger.ended_ms + live),
        },
        "today": {
            "date": machine.ledger.day.date,
            "attempts": machine.ledger.day.attempts,
            "total_tokens": machine.ledger.day.spent.tokens.total,
            "cost": machine.ledger.day.spent.cost,
        },
        "rate_limits": machine.ledger.rate_limits,
        "config_error": machine.invalid,
        "last_error": machine.health.last_error,
        "poll_interval_ms": u64::try_from(machine.config.poll_interval.as_millis()).unwrap_or(u64::MAX),
        "max_concurrent_agents": machine.config.agent.max_concurrent_agents,
        "refresh_ms": machine.config.observability.refresh.map(|it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX)),
    })
}

/// One issue; nothing if it is not known.
#[must_use]
pub fn issue_details(machine: &Orchestrator, identifier: &str, places: &Places) -> Option<Value> {
    let mut records = machine.ledger.records.values();
    let known = records.find(|it| it.identifier == identifier);
    let idle = machine.idle.iter().find(|it| it.identifier == identifier);
    let record = known.cloned().or_else(|| idle.map(unworked))?;
    let record = &record;
    let id = &record.issue_id;
    let run = machine.runs.by_issue.get(id);
    let retry = machine.retries.by_issue.get(id);
    let last = record.attempts.last();
    let status = match (run, retry) {
        (Some(_), _) => "running",
        (None, Some(_)) => "retrying",
        (None, None) if record.held.is_some() => "held",
        (None, None) if idle.is_some() => "waiting",
        (None, None) => "idle",
    };
    let recent = run.map(|it| it.recent.iter().map(heard).collect::<Vec<_>>());
    let root = &machine.config.workspace_root;
    let logs = record.attempts.iter().rev().map(|it| {
        json!({ "label": it.number.to_string(), "path": places.log(identifier, it.number), "url": null })
    });
    Some(json!({
        "issue_identifier": identifier,
        "issue_id": id,
        "issue_url": record.url,
        "title": record.title,
        "status": status,
        "reason": idle.map(|it| it.why.to_string()),
        "workspace": {
            "path": workspace::path(root, identifier),
            "host": last.and_then(|it| it.host.as_ref()),
        },
        "attempts": {
            "restart_count": last.map_or(0, |it| it.number.saturating_sub(1)),
            "current_retry_attempt": retry.map(|it| it.retry.attempt)
                .or_else(|| run.and_then(|it| it.attempt)),
        },
        "running": run.map(|it| running(id, it)),
        "retry": retry.map(|it| retrying(id, it)),
        "logs": { "codex_session_logs": logs.collect::<Vec<_>>() },
        "recent_events": recent.unwrap_or_default(),
        "last_error": last.and_then(|it| it.error.clone()),
        "tracked": tracked(record, places),
    }))
}

/// An issue that nobody has worked on yet.
pub(super) fn unworked(idle: &Idle) -> Record {
    let Idle {
        issue_id,
        identifier,
        title,
        state,
        ..
    } = idle;
    Record {
        url: idle.url.clone(),
        ..Record::new(&Issue::new(issue_id, identifier, title, state))
    }
}

/// What is remembered of an issue: every attempt with its thread, cost, log and changes.
#[must_use]
pub fn tracked(record: &Record, places: &Places) -> Value {
    let attempts = record.attempts.iter().map(|it| attempt(record, it, places));
    json!({
        "held": record.held,
        "spent": spend(&record.spent),
        "retry": record.retry,
        "attempts": attempts.collect::<Vec<_>>(),
    })
}

fn attempt(record: &Record, attempt: &Attempt, places: &Places) -> Value {
    let patch = places.patch(&record.identifier, attempt.number);
    json!({
        "number": attempt.number,
        "attempt": attempt.attempt,
        "status": attempt.status,
        "error": attempt.error,
        "started_at": rfc3339(attempt.started_at),
        "ended_at": attempt.ended_at.map(rfc3339),
        "host": attempt.host,
        "thread_id": attempt.thread_id,
        "turns": attempt.turns,
        "spent": spend(&attempt.spent),
        "log": places.log(&record.identifier, attempt.number),
        "patch": attempt.patch.then_some(patch),
        "branch": attempt.branch,
    })
}

fn running(id: &str, run: &Run) -> Value {
    let last = run.recent.back();
    json!({
        "issue_id": id,
        "issue_identifier": run.identifier,
        "issue_url": run.issue.url,
        "title": run.issue.title,
        "state": run.issue.state,
        "session_id": run.session_id,
        "attempt": run.attempt,
        "host": run.host,
        "codex_app_server_pid": run.pid.map(|it| it.to_string()),
        "turn_count": run.turns,
        "last_event": last.map(|it| it.event),
        "last_message": last.map_or("", |it| &it.message),
        "started_at": rfc3339(run.started_at),
        "last_event_at": run.heard_at.map(rfc3339),
        "stopping": run.stop.is_some(),
        "tokens": tokens(&run.tokens),
    })
}

fn retrying(id: &str, waiting: &Waiting) -> Value {
    json!({
        "issue_id": id,
        "issue_identifier": waiting.identifier,
        "issue_url": waiting.url,
        "attempt": waiting.retry.attempt,
        "due_at": rfc3339(waiting.retry.due_at),
        "error": waiting.retry.error,
    })
}

fn heard(heard: &super::run::Heard) -> Value {
    json!({ "at": rfc3339(heard.at), "event": heard.event, "message": heard.message })
}

fn spend(spent: &Spend) -> Value {
    let mut value = tokens(&spent.tokens);
    value["cost"] = spent.cost.into();
    value
}

fn tokens(tokens: &Tokens) -> Value {
    json!({
        "input_tokens": tokens.input,
        "output_tokens": tokens.output,
        "total_tokens": tokens.total,
    })
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a service does not run for so long"
)]
fn seconds(ms: Millis) -> f64 {
    ms as f64 / 1e3
}
