//! Chaos against the program as it is shipped: builds it, and lets the fault tests of `server` loose on it.

use std::path::Path;

use crate::{Outcome, cargo};

const DEFAULT_MINUTES: u64 = 10;

pub fn run(root: &Path, options: &[&str]) -> Outcome {
    let (mut minutes, mut seed) = (DEFAULT_MINUTES, None);
    let mut options = options.iter();
    while let Some(option) = options.next() {
        let number = options.next().and_then(|value| value.parse::<u64>().ok());
        let number = number.ok_or_else(|| format!("`{option}` needs a number"))?;
        match *option {
            "--minutes" => minutes = number,
            "--seed" => seed = Some(number),
            _ => {
                return Err(format!(
                    "unknown option `{option}`; known: --minutes, --seed"
                ));
            }
        }
    }
    cargo::run(root, &["build", "--release", "-p", "quipu-cli"], &[])?;
    let program = root.join("target/release/quipu");
    let program = program.to_string_lossy().into_owned();
    let seconds = (minutes * 60).to_string();
    let seed = seed.map(|seed| seed.to_string());
    let mut env = vec![
        ("QUIPU_BIN", program.as_str()),
        ("QUIPU_CHAOS_SECONDS", seconds.as_str()),
    ];
    env.extend(seed.as_deref().map(|seed| ("QUIPU_CHAOS_SEED", seed)));
    let test = [
        "test",
        "-p",
        "quipu-server",
        "--test",
        "faults",
        "--",
        "chaos",
    ];
    cargo::run(root, &test, &env)
}
