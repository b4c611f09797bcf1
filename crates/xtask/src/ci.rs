//! What must pass before a merge, in one order, on a laptop and in CI alike.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::cargo::{self, Quipu};
use crate::{Outcome, npm, tidy};

/// Where it is set, what failed runs once more, and the run says what was unstable. That is for machines that other
/// work slows down: there a test that waits too briefly must be seen, and must not hold up everything else.
const RETRY: &str = "QUIPU_CI_RETRY";

/// Runs every step and stops at the first that fails; all tests run, so that one run shows all that fail.
/// `test_args` go to `cargo test`.
pub fn run(root: &Path, test_args: &[&str]) -> Outcome {
    require_tools(root)?;
    let test = [&["test", "--workspace", "--no-fail-fast"], test_args].concat();
    let docs_env = [("RUSTDOCFLAGS", "-D warnings")];

    let mut timings = Timings::default();
    let mut unstable = Vec::new();
    timings.step("format", || {
        cargo::run(root, &["fmt", "--all", "--check"], &[])
    })?;
    timings.step("clippy", || {
        cargo::run(root, &["clippy", "--workspace", "--all-targets"], &[])
    })?;
    timings.step("build", || {
        cargo::run(root, &["test", "--workspace", "--no-run"], &[])
    })?;
    timings.step("tidy", || tidy::run(root, Quipu::Built))?;
    timings.step("tests", || run_tests(root, &test, &mut unstable))?;
    for (name, package) in [("typescript", &npm::CLIENT), ("console", &npm::CONSOLE)] {
        timings.step(name, || {
            let test = || npm::test(root, package, Quipu::Built);
            test().or_else(|error| retry(error, test, &mut unstable))
        })?;
    }
    timings.step("docs", || {
        cargo::run(root, &["doc", "--workspace", "--no-deps"], &docs_env)
    })?;
    timings.print();
    for failure in unstable {
        println!("UNSTABLE: {failure}, and then passed");
    }
    Ok(())
}

/// Runs all tests, and those that failed once more where that is wanted.
fn run_tests(root: &Path, test: &[&str], unstable: &mut Vec<String>) -> Outcome {
    let failed = cargo::failing_tests(root, test)?;
    if failed.is_empty() {
        return Ok(());
    }
    // The same packages, so that nothing is built again; elsewhere no test has these names.
    let names = failed.iter().map(String::as_str);
    let args = ["test", "--workspace", "--no-fail-fast", "--", "--exact"];
    let args: Vec<&str> = args.into_iter().chain(names).collect();
    let again = || cargo::run(root, &args, &[]);
    retry(format!("{} failed", failed.join(", ")), again, unstable)
}

/// Runs once more what failed with `error`, where that is wanted.
fn retry(error: String, again: impl FnOnce() -> Outcome, unstable: &mut Vec<String>) -> Outcome {
    if std::env::var_os(RETRY).is_none() {
        return Err(error);
    }
    println!("\n=== again: {error} ===");
    again()?;
    unstable.push(error);
    Ok(())
}

/// A missing component is named before anything is built.
fn require_tools(root: &Path) -> Outcome {
    for (subcommand, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        if !cargo::has(root, subcommand) {
            return Err(format!(
                "`cargo {subcommand}` is missing; add it with `rustup component add {component}`"
            ));
        }
    }
    Ok(())
}

#[derive(Default)]
struct Timings {
    steps: Vec<(&'static str, Duration)>,
}

impl Timings {
    fn step(&mut self, name: &'static str, work: impl FnOnce() -> Outcome) -> Outcome {
        println!("\n=== {name} ===");
        let start = Instant::now();
        let outcome = work();
        self.steps.push((name, start.elapsed()));
        outcome.map_err(|error| {
            self.print();
            format!("\n{name} failed: {error}")
        })
    }

    fn print(&self) {
        println!("\n=== timings ===");
        for (name, duration) in &self.steps {
            println!("{name:<10} {:>7.1} s", duration.as_secs_f64());
        }
    }
}
