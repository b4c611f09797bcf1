//! A client's own command in a sandbox that cannot write: `true`, from the request to its answer.

use std::time::Instant;

use serde_json::json;

use super::{Figure, Goal, Row, Values, median, ms};
use crate::ground::Ground;

pub struct CommandExec;

impl Row for CommandExec {
    fn name(&self) -> &'static str {
        "command-exec"
    }

    fn figures(&self) -> &[Figure] {
        &[
            Figure {
                name: "sandboxed `command/exec` of `true`",
                unit: "ms",
                goal: Goal::AtMost(0.1),
            },
            Figure {
                name: "sandboxed `command/exec` of `true`, CPU",
                unit: "ms",
                goal: Goal::AtMost(0.1),
            },
        ]
    }

    fn run<'a>(&'a self, ground: &'a Ground<'a>) -> Values<'a> {
        Box::pin(async {
            let session = ground.start().await?;
            let params = json!({"command": ["true"], "sandboxPolicy": {"type": "readOnly"}});
            let before = session.cpu()?;
            let mut times = Vec::new();
            for _ in 0..ground.count(40) {
                let start = Instant::now();
                let answer = session.call("command/exec", &params).await?;
                times.push(ms(start.elapsed()));
                if answer["exitCode"] != 0 {
                    return Err(format!("the command did not run: {answer}").into());
                }
            }
            let cpu = ms(session.cpu()? - before) / times.len() as f64;
            Ok(vec![median(times), cpu])
        })
    }
}
