//! A patch that changes one line in the middle of a file of one megabyte.

use std::fmt::Write as _;

use serde_json::json;

use super::{Figure, Goal, Row, Values, median, ms};
use crate::ground::Ground;

/// Lines of 64 bytes.
const LINES: usize = 1 << 14;

pub struct LargePatch;

impl Row for LargePatch {
    fn name(&self) -> &'static str {
        "large-patch"
    }

    fn figures(&self) -> &[Figure] {
        &[
            Figure {
                name: "patch of a 1 MB file in a turn",
                unit: "ms",
                goal: Goal::AtMost(0.1),
            },
            Figure {
                name: "patch of a 1 MB file in a turn, CPU",
                unit: "ms",
                goal: Goal::AtMost(0.1),
            },
        ]
    }

    fn run<'a>(&'a self, ground: &'a Ground<'a>) -> Values<'a> {
        Box::pin(async {
            let mut session = ground.start().await?;
            let thread = session.thread().await?;
            let lines = ground.count(LINES);
            let mut content = String::new();
            for number in 0..lines {
                writeln!(content, "{number:<62}|")?;
            }
            let middle = lines / 2;
            let patch = format!(
                "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: large\n@@\n\
                 -{middle:<62}|\n+{middle:<61}||\n*** End Patch\nEOF\n"
            );
            let call = json!({"name": "exec_command", "arguments": {"cmd": patch}});
            let prompt = json!({"mock": [{"calls": [call]}, {"text": "done"}]}).to_string();
            let file = session.directory().join("large");
            let before = session.cpu()?;
            let mut times = Vec::new();
            for _ in 0..10 {
                std::fs::write(&file, &content)?;
                times.push(ms(session.turn(&thread, &prompt).await?.whole));
                if std::fs::read_to_string(&file)? == content {
                    return Err("the file was not patched".into());
                }
            }
            let cpu = ms(session.cpu_since(before)?) / times.len() as f64;
            Ok(vec![median(times), cpu])
        })
    }
}
