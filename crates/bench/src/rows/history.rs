//! Whether a long conversation makes every further turn dearer.

use std::time::Duration;

use super::{Figure, Goal, Row, Values, ms};
use crate::Result;
use crate::ground::Ground;
use crate::session::Session;

/// Turns on either side of the one that a figure names.
const WINDOW: usize = 10;

/// An early and a late turn of one conversation.
pub struct History {
    name: &'static str,
    early: usize,
    late: usize,
    figures: [Figure; 3],
}

pub static SHORT: History = History {
    name: "history",
    early: 10,
    late: 200,
    figures: [
        cpu("turn 10 of a thread, CPU", Goal::AtMost(0.04)),
        cpu("turn 200 of a thread, CPU", Goal::AtMost(0.04)),
        cpu("what 190 turns of history add to a turn, CPU", Goal::None),
    ],
};

pub static LONG: History = History {
    name: "history-2000",
    early: 200,
    late: 2000,
    figures: [
        cpu("turn 200 of a long thread, CPU", Goal::None),
        cpu("turn 2,000 of a long thread, CPU", Goal::None),
        cpu("what 1,800 turns of history add to a turn, CPU", Goal::None),
    ],
};

const fn cpu(name: &'static str, goal: Goal) -> Figure {
    Figure {
        name,
        unit: "ms",
        goal,
    }
}

impl Row for History {
    fn name(&self) -> &'static str {
        self.name
    }

    fn figures(&self) -> &[Figure] {
        &self.figures
    }

    fn run<'a>(&'a self, ground: &'a Ground<'a>) -> Values<'a> {
        Box::pin(async {
            let (before, between) = (self.early - WINDOW, self.late - self.early - 2 * WINDOW);
            let mut session = ground.start().await?;
            let thread = session.thread().await?;
            cpu_of(&mut session, &thread, ground.count(before)).await?;
            let early = cpu_of(&mut session, &thread, 2 * WINDOW).await?;
            cpu_of(&mut session, &thread, ground.count(between)).await?;
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
    session.cpu_since(before)
}
