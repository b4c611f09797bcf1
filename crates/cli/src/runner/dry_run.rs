//! `quipu runner --dry-run`: what would be dispatched now, and with which prompt. Nothing is started or changed.

use std::process::ExitCode;

use quipu_runner::orchestrator::{Input, Orchestrator, preview, sort_for_dispatch};
use quipu_runner::service::{ServiceOptions, load};
use quipu_runner::{first_prompt, store, time};

use super::operator;
use crate::cmd::print;
use crate::logging::Logging;
use crate::runtime;

pub fn run(options: &ServiceOptions) -> Result<ExitCode, String> {
    // Issues that cannot be read are only mentioned there.
    let logging = Logging::start_warnings("quipu_runner");
    let lines = look(options);
    logging.finish();
    print::lines(lines?)
}

fn look(options: &ServiceOptions) -> Result<Vec<String>, String> {
    let loaded = load(&options.workflow, &options.env, &options.open_tracker)?;
    let records = store::load(&options.places, store::leave);
    let records = records.map_err(|error| error.to_string())?;
    let now = time::now();
    let day = store::load_day(&options.places, now, store::leave);
    let runtime = runtime::make()?;
    let states = loaded.config.tracker.active_states.clone();
    let issues = runtime.block_on(loaded.tracker.issues_in_states(&states));
    runtime.shutdown_background();
    let mut issues = issues.map_err(|error| error.to_string())?;
    sort_for_dispatch(&mut issues);
    let mut machine = Orchestrator::new(loaded.config, records, day);
    machine.step(now, Input::Started);
    let mut lines = Vec::new();
    for issue in issues {
        let (identifier, title) = (issue.identifier.clone(), issue.title.clone());
        let job = match preview(&mut machine, now, issue) {
            Ok(job) => job,
            Err(why) => {
                lines.push(format!("{identifier}: not dispatched, {why} ({title})"));
                continue;
            }
        };
        let thread = job.resume.as_ref();
        let thread = thread.map_or(String::new(), |it| {
            format!(" in the thread {}", it.thread_id)
        });
        lines.push(format!(
            "{identifier}: dispatched ({title}){thread}, with this prompt:"
        ));
        match first_prompt(&job) {
            Ok(text) => lines.extend(text.lines().map(|line| format!("    {line}"))),
            Err(error) => lines.push(format!("    {error}")),
        }
    }
    if lines.is_empty() {
        lines.push("no issue is in an active state".to_owned());
    }
    Ok(lines.iter().map(|it| operator::plain(it)).collect())
}
