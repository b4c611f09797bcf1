//! `quipu runner --dry-run`: what would be dispatched now, and with which prompt. Nothing is started or changed.

use std::process::ExitCode;

use quipu_runner::orchestrator::{Orchestrator, Verdict, sort_for_dispatch};
use quipu_runner::service::{ServiceOptions, load};
use quipu_runner::{prompt, store, time};

use crate::cmd::print;
use crate::runtime;

pub fn run(options: &ServiceOptions) -> Result<ExitCode, String> {
    let loaded = load(&options.workflow, &options.env, &options.open_tracker)?;
    let records = store::load(&options.places).map_err(|error| error.to_string())?;
    let now = time::now();
    let day = store::load_day(&options.places, now);
    let runtime = runtime::make()?;
    let states = loaded.config.tracker.active_states.clone();
    let issues = runtime.block_on(loaded.tracker.issues_in_states(&states));
    runtime.shutdown_background();
    let mut issues = issues.map_err(|error| error.to_string())?;
    sort_for_dispatch(&mut issues);
    let config = loaded.config;
    let mut machine = Orchestrator::new(config.clone(), records, day);
    let mut lines = Vec::new();
    for issue in issues {
        let verdict = machine.verdict(now, &issue);
        let (identifier, title) = (&issue.identifier, &issue.title);
        if verdict != Verdict::Dispatch {
            lines.push(format!("{identifier}: not dispatched, {verdict} ({title})"));
            continue;
        }
        lines.push(format!(
            "{identifier}: dispatched ({title}), with this prompt:"
        ));
        match prompt(config.prompt.as_ref(), &issue, None) {
            Ok(text) => lines.extend(text.lines().map(|line| format!("    {line}"))),
            Err(error) => lines.push(format!("    {error}")),
        }
        machine.take_place(now, issue);
    }
    if lines.is_empty() {
        lines.push("no issue is in an active state".to_owned());
    }
    print::lines(lines)
}
