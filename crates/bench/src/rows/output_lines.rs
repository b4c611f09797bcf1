//! A command that prints 10,000 lines, which stream to the client and are not all kept.

use serde_json::json;

use super::{Figure, Goal, Row, Values, ms};
use crate::ground::Ground;

pub struct OutputLines;

impl Row for OutputLines {
    fn name(&self) -> &'static str {
        "output-lines"
    }

    fn figures(&self) -> &[Figure] {
        &[
            Figure {
                name: "a command that prints 10,000 lines",
                unit: "ms",
                goal: Goal::AtMost(0.2),
            },
            Figure {
                name: "a command that prints 10,000 lines, CPU",
                unit: "ms",
                goal: Goal::AtMost(0.2),
            },
            Figure {
                name: "memory that ten times 10,000 lines leave",
                unit: "MB",
                goal: Goal::AtMost(1.0),
            },
        ]
    }

    fn run<'a>(&'a self, ground: &'a Ground<'a>) -> Values<'a> {
        Box::pin(async {
            let mut session = ground.start().await?;
            let thread = session.thread().await?;
            let lines = ground.count(10_000);
            let prompt = printing(lines);
            session.turn(&thread, &prompt).await?;
            let rested = session.memory().await?;
            let before = session.cpu()?;
            let mut times = Vec::new();
            for _ in 0..10 {
                times.push(ms(session.turn(&thread, &prompt).await?.whole));
            }
            let cpu = ms(session.cpu_since(before)?) / times.len() as f64;
            let left = session.memory().await? - rested;
            Ok(vec![super::median(times), cpu, left])
        })
    }
}

/// A prompt for a command that prints so many lines of 80 bytes. They come one by one, so that they cannot be
/// taken for one piece.
pub fn printing(lines: usize) -> String {
    let line = "x".repeat(79);
    let command = format!("awk 'BEGIN {{ while (n++ < {lines}) print \"{line}\" }}'");
    let arguments = json!({"cmd": command, "yield_time_ms": 30_000});
    let call = json!({"name": "exec_command", "arguments": arguments});
    json!({"mock": [{"calls": [call]}, {"text": "done"}]}).to_string()
}
