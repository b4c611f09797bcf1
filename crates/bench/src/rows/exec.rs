//! One run from the shell: from the start of the process to its end, with one short turn in it.

use std::time::Instant;

use tokio::io::AsyncReadExt as _;

use super::{Figure, Goal, Row, Values, median, ms};
use crate::ground::Ground;
use crate::usage;

pub struct Exec;

impl Row for Exec {
    fn name(&self) -> &'static str {
        "exec"
    }

    fn figures(&self) -> &[Figure] {
        &[
            Figure {
                name: "`exec` of a short prompt, from start to exit",
                unit: "ms",
                goal: Goal::AtMost(0.05),
            },
            Figure {
                name: "`exec` of a short prompt, CPU",
                unit: "ms",
                goal: Goal::AtMost(0.05),
            },
        ]
    }

    fn run<'a>(&'a self, ground: &'a Ground<'a>) -> Values<'a> {
        Box::pin(async {
            let before = usage::ended_children()?;
            let mut times = Vec::new();
            for _ in 0..ground.count(10) {
                let launch = ground.program(&["exec", "--skip-git-repo-check", "hello"]);
                let start = Instant::now();
                let mut process = launch.start();
                // Nothing is piped in.
                drop(process.stdin.take());
                let mut answer = String::new();
                if let Some(mut stdout) = process.stdout.take() {
                    stdout.read_to_string(&mut answer).await?;
                }
                let ended = process.exit().await;
                times.push(ms(start.elapsed()));
                if !ended.success() || answer.trim().is_empty() {
                    let said = process.stderr();
                    return Err(format!("it ended with {ended} and no answer: {said}").into());
                }
            }
            let cpu = ms(usage::ended_children()? - before) / times.len() as f64;
            Ok(vec![median(times), cpu])
        })
    }
}
