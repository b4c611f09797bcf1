//! How long a new conversation takes to begin.

use std::time::Instant;

use super::{Figure, Goal, Row, Values, median, ms};
use crate::ground::Ground;

pub struct ThreadStart;

impl Row for ThreadStart {
    fn name(&self) -> &'static str {
        "thread-start"
    }

    fn figures(&self) -> &[Figure] {
        &[Figure {
            name: "`thread/start`",
            unit: "ms",
            goal: Goal::AtMost(0.02),
        }]
    }

    fn run<'a>(&'a self, ground: &'a Ground<'a>) -> Values<'a> {
        Box::pin(async {
            let session = ground.start().await?;
            let mut times = Vec::new();
            for _ in 0..ground.count(20) {
                let start = Instant::now();
                session.thread().await?;
                times.push(ms(start.elapsed()));
            }
            Ok(vec![median(times)])
        })
    }
}
