//! How long the steps of a patch take on a file of one megabyte. `cargo run --example large_file -p
//! quipu-patch`
#![allow(clippy::print_stdout, reason = "the numbers are the purpose")]

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::time::Instant;

use quipu_patch::{Patch, Plan, TurnDiff};

const LINES: usize = 1 << 14;

fn main() -> Result<(), Box<dyn Error>> {
    for (name, every) in [
        ("one line", LINES),
        ("every 100th line", 100),
        ("every line", 1),
    ] {
        measure(name, every)?;
    }
    Ok(())
}

/// Changes each `every`th line of a file with lines of 64 bytes, the first of them in the middle
/// for a single one.
fn measure(name: &str, every: usize) -> Result<(), Box<dyn Error>> {
    let mut content = String::new();
    let mut text = "*** Begin Patch\n*** Update File: f\n".to_owned();
    for number in 0..LINES {
        writeln!(content, "{number:<62}|")?;
        if number % every == every / 2 {
            writeln!(text, "@@\n-{number:<62}|\n+{number:<61}||")?;
        }
    }
    text += "*** End Patch";
    let dir = tempfile::tempdir()?;
    fs::write(dir.path().join("f"), &content)?;

    println!("{name} of {} bytes", content.len());
    let start = Instant::now();
    let patch = Patch::parse(&text)?;
    println!("  parse     {:>12.1?}", start.elapsed());
    let start = Instant::now();
    let plan = Plan::new(&patch, dir.path())?;
    println!("  plan      {:>12.1?}", start.elapsed());
    let start = Instant::now();
    let shown = plan.changes()[0].diff();
    println!(
        "  diff      {:>12.1?} ({} bytes)",
        start.elapsed(),
        shown.len()
    );
    let mut turn = TurnDiff::new(dir.path());
    let start = Instant::now();
    turn.track(&plan);
    plan.apply()?;
    println!("  apply     {:>12.1?}", start.elapsed());
    let start = Instant::now();
    let whole = turn.unified();
    println!(
        "  turn diff {:>12.1?} ({} bytes)",
        start.elapsed(),
        whole.len()
    );
    Ok(())
}
