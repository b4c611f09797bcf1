//! What must pass before a merge, in one order, on a laptop and in CI alike.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::cargo::{self, Quipu};
use crate::{Outcome, npm, tidy};

/// Runs every step and stops at the first that fails; all tests run, so that one run shows all that fail.
/// `test_args` go to `cargo test`.
pub fn run(root: &Path, test_args: &[&str]) -> Outcome {
    require_tools(root)?;
    let test = [&["test", "--workspace", "--no-fail-fast"], test_args].concat();
    let docs_env = [("RUSTDOCFLAGS", "-D warnings")];

    let mut timings = Timings::default();
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
    timings.step("tests", || cargo::run(root, &test, &[]))?;
    timings.step("typescript", || npm::test(root, &npm::CLIENT, Quipu::Built))?;
    timings.step("console", || npm::test(root, &npm::CONSOLE, Quipu::Built))?;
    timings.step("docs", || {
        cargo::run(root, &["doc", "--workspace", "--no-deps"], &docs_env)
    })?;
    timings.print();
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
