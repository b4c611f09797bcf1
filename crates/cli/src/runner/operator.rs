//! `quipu runner status|show|retry|cancel`: asks the running service; what is stored can also be seen without one.

use std::process::ExitCode;

use quipu_runner::orchestrator::tracked;
use quipu_runner::record::Records;
use quipu_runner::service::ServiceOptions;
use quipu_runner::{control, store};
use serde_json::{Value, json};

use crate::cmd::print;

pub fn status(options: &ServiceOptions, as_json: bool) -> Result<ExitCode, String> {
    let state = match ask(options, "GET", "/api/v1/state")? {
        Some(state) => state,
        None => stored(options)?,
    };
    if as_json {
        return print::lines([format!("{state:#}")]);
    }
    let is_empty = state["issues"].as_array().is_some_and(Vec::is_empty);
    if is_empty {
        return print::lines(["the service is not running, and nothing is stored".to_owned()]);
    }
    let mut lines = vec![headline(&state)];
    for (kind, places) in [
        (
            "running",
            &[
                "/state",
                "/turn_count",
                "/tokens/total_tokens",
                "/last_message",
            ][..],
        ),
        ("retrying", &["/attempt", "/due_at", "/error"]),
        ("waiting", &["/state", "/reason"]),
        (
            "issues",
            &["/status", "/attempts", "/total_tokens", "/cost"],
        ),
    ] {
        for row in state[kind].as_array().into_iter().flatten() {
            let name = text(row.pointer("/issue_identifier"));
            let rest: Vec<String> = places.iter().map(|it| text(row.pointer(it))).collect();
            lines.push(format!("{kind:<9} {name:<16} {}", rest.join("  ")));
        }
    }
    print::lines(lines)
}

fn headline(state: &Value) -> String {
    if state["counts"].is_null() {
        return "the service is not running; this is what is stored:".to_owned();
    }
    let at = |place: &str| text(state.pointer(place));
    format!(
        "{} running, {} retrying, {} waiting; today {} tokens, cost {}",
        at("/counts/running"),
        at("/counts/retrying"),
        at("/counts/waiting"),
        at("/today/total_tokens"),
        at("/today/cost"),
    )
}

/// What is remembered of all issues.
fn stored(options: &ServiceOptions) -> Result<Value, String> {
    let records = records(options)?;
    let rows = records.values().map(|record| {
        let last = record.attempts.last();
        json!({
            "issue_identifier": record.identifier,
            "issue_id": record.issue_id,
            "title": record.title,
            "status": last.map(|it| it.status),
            "attempts": last.map_or(0, |it| it.number),
            "total_tokens": record.spent.tokens.total,
            "cost": record.spent.cost,
            "held": record.held,
        })
    });
    Ok(json!({ "issues": rows.collect::<Vec<_>>() }))
}

/// What is stored for a workflow that is there, or was.
fn records(options: &ServiceOptions) -> Result<Records, String> {
    let records = store::load(&options.places, store::leave);
    let records = records.map_err(|error| error.to_string())?;
    match records.is_empty() && !options.workflow.exists() {
        true => Err(format!(
            "there is no {}; say with `--workflow` which one is meant",
            options.workflow.display()
        )),
        false => Ok(records),
    }
}

pub fn show(options: &ServiceOptions, issue: &str, as_json: bool) -> Result<ExitCode, String> {
    let asked = ask(options, "GET", &format!("/api/v1/{issue}/show"))?;
    let details = match asked {
        Some(details) => details,
        None => {
            let record = records(options)?;
            let record = record.into_values().find(|it| it.identifier == issue);
            let record =
                record.ok_or_else(|| format!("nothing is known of the issue `{issue}`"))?;
            json!({
                "issue_identifier": issue,
                "issue_id": record.issue_id,
                "title": record.title,
                "status": "the service is not running",
                "tracked": tracked(&record, &options.places),
            })
        }
    };
    if as_json {
        return print::lines([format!("{details:#}")]);
    }
    let mut lines = vec![format!(
        "{}  {}  ({})",
        text(details.pointer("/issue_identifier")),
        text(details.pointer("/title")),
        text(details.pointer("/status")),
    )];
    if let Some(reason) = details["reason"].as_str() {
        lines.push(format!("waits: {}", plain(reason)));
    }
    for attempt in details["tracked"]["attempts"]
        .as_array()
        .into_iter()
        .flatten()
    {
        lines.push(format!(
            "attempt {}: {}, started {}",
            attempt["number"],
            text(attempt.get("status")),
            text(attempt.get("started_at")),
        ));
        for (name, place) in [
            ("error", "/error"),
            ("host", "/host"),
            ("thread", "/thread_id"),
            ("turns", "/turns"),
            ("tokens", "/spent/total_tokens"),
            ("cost", "/spent/cost"),
            ("log", "/log"),
            ("patch", "/patch"),
            ("branch", "/branch"),
        ] {
            let value = attempt.pointer(place).filter(|it| !it.is_null());
            lines.extend(value.map(|it| format!("  {name}: {}", text(Some(it)))));
        }
    }
    print::lines(lines)
}

pub fn command(options: &ServiceOptions, issue: &str, action: &str) -> Result<ExitCode, String> {
    match ask(options, "POST", &format!("/api/v1/{issue}/{action}"))? {
        Some(done) => {
            let outcome = text(done.get("outcome"));
            let reason = done["reason"].as_str().map(|it| format!(": {}", plain(it)));
            print::lines([format!("{issue}: {outcome}{}", reason.unwrap_or_default())])
        }
        None => {
            records(options)?;
            Err(format!(
                "no service is running for {}; start it with `quipu runner`",
                options.workflow.display()
            ))
        }
    }
}

/// The answer of the running service; nothing if none is running.
fn ask(options: &ServiceOptions, method: &str, path: &str) -> Result<Option<Value>, String> {
    let asked = control::ask(&options.places, method, path);
    match asked.map_err(|error| format!("cannot ask the service: {error}"))? {
        None => Ok(None),
        Some((200..300, answer)) => Ok(Some(answer)),
        Some((_, answer)) => Err(text(answer.pointer("/error/message"))),
    }
}

/// A value as [`plain`] text.
fn text(value: Option<&Value>) -> String {
    let text = match value {
        None | Some(Value::Null) => "-".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) if number.is_f64() => {
            format!("{:.4}", number.as_f64().unwrap_or(0.0))
        }
        Some(other) => other.to_string(),
    };
    plain(&text)
}

/// A text in one line, without anything that a terminal would obey.
pub(super) fn plain(text: &str) -> String {
    text.chars()
        .map(|it| if it.is_control() { ' ' } else { it })
        .collect()
}
