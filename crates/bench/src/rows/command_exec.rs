//! A client's own command, from the request to its answer: `true`, as it is and in a sandbox that cannot
//! write.

use std::time::Instant;

use serde_json::json;

use super::{Figure, Goal, Row, Values, median, ms};
use crate::ground::Ground;

pub struct CommandExec {
    name: &'static str,
    policy: &'static str,
    figures: [Figure; 2],
}

pub static FREE: CommandExec = CommandExec {
    name: "free-command-exec",
    policy: "dangerFullAccess",
    figures: [
        Figure {
            name: "`command/exec` of `true`",
            unit: "ms",
            goal: Goal::AtMost(1.0),
        },
        Figure {
            name: "`command/exec` of `true`, CPU",
            unit: "ms",
            goal: Goal::AtMost(1.0),
        },
    ],
};

pub static SANDBOXED: CommandExec = CommandExec {
    name: "command-exec",
    policy: "readOnly",
    figures: [
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
    ],
};

impl Row for CommandExec {
    fn name(&self) -> &'static str {
        self.name
    }

    fn figures(&self) -> &[Figure] {
        &self.figures
    }

    fn run<'a>(&'a self, ground: &'a Ground<'a>) -> Values<'a> {
        Box::pin(async {
            let session = ground.start().await?;
            let params = json!({"command": ["true"], "sandboxPolicy": {"type": self.policy}});
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
            let cpu = ms(session.cpu_since(before)?) / times.len() as f64;
            Ok(vec![median(times), cpu])
        })
    }
}
