//! `quipu threads list` and `search`: the stored sessions, with the ids that `exec resume` takes.

use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use quipu_client::wire::{Thread, ThreadListCwdFilter, ThreadListParams};
use quipu_server::open_storage;
use quipu_spending::Amount;
use serde_json::json;

use super::args::ListArgs;
use super::costs;
use crate::args::ConfigArgs;
use crate::cmd::print;
use crate::exec::thread::{everything, text};
use crate::session;

/// Characters of a title.
const TITLE: usize = 50;

pub fn run(
    args: ListArgs,
    search_term: Option<String>,
    common: &ConfigArgs,
) -> Result<ExitCode, String> {
    let cwd = args.cwd.as_ref().map(|it| it.canonicalize());
    let cwd = cwd.transpose().map_err(|error| error.to_string())?;
    let config = super::config(common, &args.config)?;
    let ledger = open_storage(&config).ledger;
    let is_search = search_term.is_some();
    let params = ThreadListParams {
        limit: Some(args.limit),
        cwd: cwd.map(|it| ThreadListCwdFilter::One(it.display().to_string())),
        archived: Some(args.archived),
        search_term,
        ..everything()
    };
    let page = session::with_client(config, async |client, _| {
        client.list_threads(params).await.map_err(text)
    })?;
    let threads = page.data;
    let costs = costs::of(&*ledger, &threads);
    let cost = |thread: &Thread| costs.get(&thread.id).copied().unwrap_or_default();
    if args.json {
        return print::lines(threads.iter().map(|it| json_line(it, &cost(it))));
    }
    if threads.is_empty() {
        eprintln!(
            "{}",
            if is_search {
                "no session matches"
            } else {
                "no sessions are stored"
            }
        );
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |it| i64::try_from(it.as_secs()).unwrap_or(i64::MAX));
    let rows = threads.iter().map(|it| row(it, now, cost(it).dollars));
    print::lines(rows)
}

fn json_line(thread: &Thread, cost: &Amount) -> String {
    let line = json!({
        "id": thread.id,
        "name": thread.name,
        "preview": thread.preview,
        "created_at": thread.created_at,
        "updated_at": thread.updated_at,
        "cwd": thread.cwd,
        "model_provider": thread.model_provider,
        "tokens": cost.tokens,
        "dollars": cost.dollars,
    });
    line.to_string()
}

pub fn row(thread: &Thread, now: i64, dollars: f64) -> String {
    let when = ago(now.saturating_sub(thread.updated_at));
    let title = title(thread.name.as_deref().unwrap_or(&thread.preview));
    let cost = costs::shown(dollars);
    format!(
        "{}  {when:>14}  {cost:>9}  {title:<TITLE$}  {}",
        thread.id, thread.cwd
    )
}

/// The beginning of the first line, without anything that a terminal would obey.
fn title(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let shown: String = line.chars().filter(|it| !it.is_control()).collect();
    match shown.char_indices().nth(TITLE) {
        Some(_) => shown.chars().take(TITLE - 1).chain(['…']).collect(),
        None => shown,
    }
}

/// How long ago something was, in the largest unit that fits.
fn ago(seconds: i64) -> String {
    const UNITS: [(i64, &str); 4] = [
        (86_400, "day"),
        (3_600, "hour"),
        (60, "minute"),
        (1, "second"),
    ];
    let fitting = UNITS.iter().find(|(length, _)| seconds >= *length);
    match fitting.map(|(length, unit)| (seconds / length, unit)) {
        Some((1, unit)) => format!("1 {unit} ago"),
        Some((count, unit)) => format!("{count} {unit}s ago"),
        None => "just now".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_reported_in_the_largest_unit() {
        for (seconds, expected) in [
            (-5, "just now"),
            (0, "just now"),
            (1, "1 second ago"),
            (119, "1 minute ago"),
            (7_200, "2 hours ago"),
            (900_000, "10 days ago"),
        ] {
            assert_eq!(ago(seconds), expected);
        }
    }

    #[test]
    fn titles_are_one_short_line() {
        assert_eq!(title("\n fix \x1b[2Jit\nplease"), "fix [2Jit");
        let long = title(&"é".repeat(60));
        assert_eq!((long.chars().count(), long.ends_with('…')), (TITLE, true));
    }
}
