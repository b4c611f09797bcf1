//! Whether a long conversation makes every further turn dearer.

use std::time::Duration;

use super::{Figure, Goal, Row, Values, ms};
use crate::Result;
use crate::ground::Ground;
use crate::session::Session;

/// Turns on either side of the one that a figure names.
const WINDOW: usize = 10;

pub struct History;

impl Row for History {
    fn name(&self) -> &'static str {
        "history"
    }

    fn figures(&self) -> &[Figure] {
        &[
            Figure {
                name: "turn 10 of a thread, CPU",
                unit: "ms",
                goal: Goal::AtMost(0.04),
            },
            Figure {
                name: "turn 200 of a thread, CPU",
                unit: "ms",
                goal: Goal::AtMost(0.04),
            },
            Figure {
                name: "what 190 turns of history add to a turn, CPU",
                unit: "ms",
                goal: Goal::None,
            },
        ]
    }

    fn run<'a>(&'a self, ground: &'a Ground<'a>) -> Values<'a> {
        Box::pin(async {
            let mut session = ground.start().await?;
            let thread = session.thread().await?;
            let early = cpu_of(&mut session, &thread, 2 * WINDOW).await?;
            cpu_of(&mut session, &thread, ground.count(170)).await?;
            let late = cpu_of(&mut session, &thread, 2 * WINDOW).await?;
            let [early, late] = [early, late].map(|it| ms(it) / (2 * WINDOW) as f64);
            Ok(vec![early, late, late - early])
        })
    }
}

async fn cpu_of(session: &mut Session, thread: &str, turns: usize) -> Result<Duration> {
    let before = session.cpu()?;
    for _ in 0..turns {
        session.turn(thread, "hello").await?;
    }
    Ok(session.cpu()? - before)
}
