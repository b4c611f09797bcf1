//! `quipu eval DIR`: compares the prompts of a directory over its cases, and writes a report.

mod plan;

use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use quipu_adapter::{Adapter, Approvals, Case, Failure, Progress, Prompt, Report, Section, Server};
use quipu_client::wire::SandboxMode;
use quipu_config::Env;
use quipu_embed::Embedded;
use serde::Serialize;
use serde_json::Value;

use crate::args::{ConfigArgs, EvalArgs};
use crate::cmd::{app_server, print};
use crate::exec::stops::{self, Stops};
use plan::{Input, Plan};

pub fn run(args: EvalArgs, common: &ConfigArgs) -> Result<ExitCode, String> {
    let overrides = common.overrides(&args.config)?;
    let plan = Plan::read(&args.directory)?;
    let config = app_server::load(Env::from_process(), overrides)?;
    let runtime =
        tokio::runtime::Runtime::new().map_err(|error| format!("cannot start: {error}"))?;
    let (report, stopped) = runtime.block_on(async {
        let mut stops = Stops::new();
        let server = Embedded::start(config);
        let report = evaluate(&plan, &args, &server, &mut stops).await;
        server.stop().await;
        report.map(|report| (report, stops.received))
    })?;
    runtime.shutdown_background();
    let out = args.out.unwrap_or_else(|| args.directory.join("report"));
    write(&report, &out)?;
    let mut lines = vec![summary(&report)];
    if report.missing > 0 {
        lines.push(format!(
            "The run was stopped: {} evaluations are missing.",
            report.missing
        ));
    }
    lines.push(format!("The report is in {}.", out.display()));
    let printed = print::lines(lines)?;
    if let Some(signal) = stopped {
        stops::die_by(signal);
    }
    match failed(&report) {
        Some(failure) => Err(failure),
        None => Ok(printed),
    }
}

async fn evaluate(
    plan: &Plan,
    args: &EvalArgs,
    server: &Embedded,
    stops: &mut Stops,
) -> Result<Report, String> {
    let embedded = server.clone();
    let source = Server::options(move || embedded.options());
    let directory = fs::canonicalize(&args.directory).map_err(|error| error.to_string())?;
    let mut adapter = Adapter::new(source.pooled())
        .client("quipu", env!("CARGO_PKG_VERSION"))
        .client_title("Quipu")
        .cwd(directory)
        .ephemeral()
        .approvals(Approvals::OnRequest)
        .sandbox(SandboxMode::ReadOnly)
        .prices(plan.prices.clone());
    if let Some(model) = &plan.model {
        adapter = adapter.model(model);
    }
    let report = match &plan.schema {
        None => compare(plan, args, &adapter, stops, |name| Prompt::text(name)).await,
        Some(schema) => {
            let empty = |name: &str| Prompt::with_schema(name, schema.clone());
            compare(plan, args, &adapter, stops, empty).await
        }
    };
    adapter.close().await;
    Ok(report)
}

/// Evaluates every prompt for every case; `empty` makes a prompt without text.
async fn compare<O: Serialize + Send>(
    plan: &Plan,
    args: &EvalArgs,
    adapter: &Adapter,
    stops: &mut Stops,
    empty: impl Fn(&str) -> Prompt<O> + Sync,
) -> Report {
    let cases: Vec<Case<Input>> = plan.cases.clone();
    let mut run = adapter
        .evaluate_all(&cases)
        .concurrency(args.concurrency.unwrap_or(plan.concurrency))
        .budget(&plan.budget)
        .on_progress(show)
        .stop_when(stops.next());
    if let Some(limit) = plan.timeout {
        run = run.timeout(limit);
    }
    let empty = &empty;
    for (name, template) in &plan.prompts {
        run = run.variant(name, move |input: &Input| {
            Ok(empty(name).section(Section::template("Task", template, &input.values)?))
        });
    }
    for score in plan.scores.iter().copied() {
        run = run.score(score.name(), move |input: &Input, response| {
            let answer = match serde_json::to_value(&response.output) {
                Ok(Value::String(text)) => text,
                Ok(json) => json.to_string(),
                Err(_) => response.text.clone(),
            };
            score.of(&answer, &input.expected)
        });
    }
    let report = run.await;
    if io::stderr().is_terminal() {
        eprintln!();
    }
    report
}

/// Why a report is of no use, if no evaluation has an answer.
fn failed(report: &Report) -> Option<String> {
    let cases = || report.variants.iter().flat_map(|it| &it.cases);
    let first = cases().find_map(|it| Some((&it.case, it.failure.as_ref()?)))?;
    let (case, Failure { phase, message, .. }) = first;
    cases().all(|it| it.failure.is_some()).then(|| {
        format!("no evaluation has an answer; the first failed with ({phase}): {message} [{case}]")
    })
}

/// A bar on a terminal, and nothing elsewhere.
fn show(progress: Progress) {
    const WIDTH: usize = 30;
    let mut stderr = io::stderr().lock();
    if !stderr.is_terminal() {
        return;
    }
    let Progress {
        done,
        total,
        failed,
        usage,
        cost,
        ..
    } = progress;
    let filled = WIDTH * done / total.max(1);
    let bar = format!("{}{}", "█".repeat(filled), "░".repeat(WIDTH - filled));
    let line = format!(
        "\r{bar} {done}/{total}, {failed} failed, {} tokens, {cost}",
        usage.total
    );
    // A terminal that is gone is no reason to stop.
    write!(stderr, "{line}")
        .and_then(|()| stderr.flush())
        .unwrap_or_default();
}

/// The first table of the report.
fn summary(report: &Report) -> String {
    let page = report.to_markdown();
    let table = page.lines().skip_while(|line| !line.starts_with('|'));
    table
        .take_while(|line| line.starts_with('|'))
        .collect::<Vec<_>>()
        .join("\n")
}

fn write(report: &Report, out: &Path) -> Result<(), String> {
    let json = serde_json::to_string_pretty(report).map_err(|error| error.to_string())?;
    fs::create_dir_all(out).map_err(|error| format!("{}: {error}", out.display()))?;
    for (name, text) in [
        (
            "report.md",
            report.to_markdown() + "\n![Scores](scores.svg)\n",
        ),
        ("report.json", json + "\n"),
        ("scores.svg", report.to_svg()),
    ] {
        let path: PathBuf = out.join(name);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}
