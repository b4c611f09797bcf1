//! The shortest turn with work in it: the model runs `true` and then says so.

use super::{Figure, Goal, Row, Values, median, ms};
use crate::ground::Ground;

const PROMPT: &str =
    r#"{"mock":[{"calls":[{"name":"exec_command","arguments":{"cmd":"true"}}]},{"text":"done"}]}"#;

pub struct ToolCall;

impl Row for ToolCall {
    fn name(&self) -> &'static str {
        "tool-call"
    }

    fn figures(&self) -> &[Figure] {
        &[
            Figure {
                name: "one tool call (`true`) in a turn",
                unit: "ms",
                goal: Goal::AtMost(0.03),
            },
            Figure {
                name: "one tool call (`true`) in a turn, CPU",
                unit: "ms",
                goal: Goal::AtMost(0.03),
            },
        ]
    }

    fn run<'a>(&'a self, ground: &'a Ground<'a>) -> Values<'a> {
        Box::pin(async {
            let mut session = ground.start().await?;
            let threads = session.threads(ground.count(40)).await?;
            let before = session.cpu()?;
            let mut times = Vec::new();
            for thread in &threads {
                times.push(ms(session.turn(thread, PROMPT).await?.whole));
            }
            let cpu = ms(session.cpu_since(before)?) / times.len() as f64;
            Ok(vec![median(times), cpu])
        })
    }
}
