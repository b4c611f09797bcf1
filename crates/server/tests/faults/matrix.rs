//! Runs the cells, as many at once as the machine bears, and tells the result.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::cell;
use crate::chaos::Chaos;
use crate::fault::{FAULTS, Fault};
use crate::kills::Graveyard;
use crate::moment::{MOMENTS, Moment};
use crate::privilege;
use crate::report::{Outcome, Report};

/// Cells at once. Most of their time is spent waiting.
const AT_ONCE: usize = 8;
/// Homes on which servers are killed, side by side.
const GRAVEYARDS: usize = 4;
/// Rounds of `kill -9` in an ordinary run, and in a long one.
const KILLS: (usize, usize) = (100, 1000);
/// How long chaos lasts if nobody says.
const CHAOS_SECONDS: u64 = 15;
/// The choices that every ordinary run tries, besides some that nobody has tried.
const CHAOS_SEED: u64 = 1;
/// How often a long run tries every cell.
const SOAK: usize = 3;

pub fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|it| it == "--list") {
        return ExitCode::SUCCESS;
    }
    let words: Vec<String> = words
        .into_iter()
        .filter(|it| !it.starts_with('-'))
        .collect();
    if let Err(error) = privilege::isolate() {
        eprintln!("no namespace of our own: {error}");
    }
    // Every cell has a model and several pipes.
    let limit = getrlimit(Resource::Nofile);
    let most = Rlimit {
        current: limit.maximum,
        ..limit
    };
    setrlimit(Resource::Nofile, most).unwrap_or_default();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let begun = Instant::now();
    let report = runtime.block_on(run(&words));
    tell(&report, begun);
    match report.holds() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn is_soak() -> bool {
    std::env::var_os("QUIPU_SOAK").is_some()
}

async fn run(words: &[String]) -> Report {
    let fits = |name: &str| words.iter().any(|word| name.contains(word.as_str()));
    let chosen = |fault: Fault, moment: Moment| {
        words.is_empty() || fits(&format!("{} × {}", fault.name(), moment.name()))
    };
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut report = Report::default();
    let mut cells = JoinSet::new();
    let rounds = if is_soak() { SOAK } else { 1 };
    for fault in FAULTS {
        let moments = MOMENTS.into_iter().filter(|it| chosen(fault, *it));
        let moments: Vec<Moment> = moments.collect();
        let reason = (!moments.is_empty()).then(|| fault.impossible()).flatten();
        for moment in moments {
            if let Some(reason) = &reason {
                report.add(fault, moment, Outcome::Skipped(reason.clone()));
                continue;
            }
            let places = Arc::clone(&places);
            cells.spawn(async move {
                let mut felt = false;
                for _ in 0..rounds {
                    let _place = places.acquire().await;
                    match guarded(cell::run(fault, moment)).await {
                        Ok(was_felt) => felt |= was_felt,
                        Err(error) => return (fault, moment, Outcome::Broken(error)),
                    }
                }
                (fault, moment, Outcome::Held { felt })
            });
        }
    }
    while let Some(done) = cells.join_next().await {
        let (fault, moment, outcome) = done.unwrap();
        report.add(fault, moment, outcome);
    }
    if words.is_empty() || fits("rounds of kill -9") {
        kill(&mut report).await;
    }
    if words.is_empty() || fits("chaos") {
        report.chaos = chaos().await;
    }
    report
}

/// A panic of the test's own parts breaks its cell and nothing else.
async fn guarded(
    cell: impl Future<Output = Result<bool, String>> + Send + 'static,
) -> Result<bool, String> {
    match tokio::spawn(cell).await {
        Ok(outcome) => outcome,
        Err(error) => Err(format!("the test failed: {error}")),
    }
}

/// Chaos, for as long as `QUIPU_CHAOS_SECONDS` says and with the choices of `QUIPU_CHAOS_SEED`, or else with two
/// sets of choices at once.
async fn chaos() -> Vec<Result<String, String>> {
    let number = |name: &str| std::env::var(name).ok().and_then(|it| it.parse().ok());
    let time = Duration::from_secs(number("QUIPU_CHAOS_SECONDS").unwrap_or(CHAOS_SECONDS));
    let seeds = match number("QUIPU_CHAOS_SEED") {
        Some(seed) => vec![seed],
        None => vec![CHAOS_SEED, untried_seed()],
    };
    let mut runs = JoinSet::new();
    for seed in seeds {
        runs.spawn(chaos_with(seed, time));
    }
    let mut outcomes = Vec::new();
    while let Some(done) = runs.join_next().await {
        outcomes.push(done.unwrap_or_else(|error| Err(format!("the test failed: {error}"))));
    }
    outcomes
}

/// A number that differs from run to run; the report has it.
fn untried_seed() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.map_or(0, |it| u64::from(it.subsec_nanos()))
}

async fn chaos_with(seed: u64, time: Duration) -> Result<String, String> {
    let mut chaos = Chaos::new(seed).await?;
    let outcome = chaos.run(time).await;
    let counts = &chaos.counts;
    let summary = format!(
        "chaos with seed {seed}: {} servers, {} requests, {} turns, {} answers to questions, {} threads compared",
        counts.servers, counts.requests, counts.turns, counts.answers, counts.checks
    );
    match outcome {
        Ok(()) => Ok(summary),
        Err(error) => Err(format!("{summary}\n{error}")),
    }
}

async fn kill(report: &mut Report) {
    let kills = if is_soak() { KILLS.1 } else { KILLS.0 };
    let mut yards = JoinSet::new();
    for yard in 0..GRAVEYARDS {
        yards.spawn(async move {
            let mut held = 0;
            let mut broken = Vec::new();
            let mut graveyard = Graveyard::new().await.unwrap();
            for round in (yard..kills).step_by(GRAVEYARDS) {
                match graveyard.round(round as u64).await {
                    Ok(()) => held += 1,
                    Err(error) => broken.push(format!("round {round}: {error}")),
                }
            }
            (held, broken)
        });
    }
    while let Some(done) = yards.join_next().await {
        let (held, broken) = done.unwrap();
        report.kills.0 += held + broken.len();
        report.kills.1 += held;
        report.broken_kills.extend(broken);
    }
}

fn tell(report: &Report, begun: Instant) {
    let mut text = String::new();
    let summary = report.summary();
    writeln!(text, "{}\n\n{}", report.table(), report.notes()).unwrap();
    write!(text, "{summary} ({} s)", begun.elapsed().as_secs()).unwrap();
    let mut out = std::io::stdout().lock();
    out.write_all(format!("\n{text}\n").as_bytes()).unwrap();
    if let Some(path) = std::env::var_os("QUIPU_FAULTS_REPORT") {
        let soak = if is_soak() { "QUIPU_SOAK=1 " } else { "" };
        let command = "cargo test -p quipu-server --test faults";
        let head = "# The fault matrix\n\nWhat a run printed; see [reliability](reliability.md).";
        let made = format!("```sh\n{soak}QUIPU_FAULTS_REPORT=docs/fault-matrix.md {command}\n```");
        std::fs::write(path, format!("{head}\n\n{made}\n\n{text}\n")).unwrap();
    }
}
