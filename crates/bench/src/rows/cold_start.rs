//! How long a client that starts its own server waits before it can ask for anything.

use super::{Figure, Goal, Row, Values, median, ms};
use crate::ground::Ground;

pub struct ColdStart;

impl Row for ColdStart {
    fn name(&self) -> &'static str {
        "cold-start"
    }

    fn figures(&self) -> &[Figure] {
        &[Figure {
            name: "cold start to `initialize` answered",
            unit: "ms",
            goal: Goal::AtMost(0.03),
        }]
    }

    fn run<'a>(&'a self, ground: &'a Ground<'a>) -> Values<'a> {
        Box::pin(async {
            let mut times = Vec::new();
            for _ in 0..ground.count(10) {
                let session = ground.start().await?;
                times.push(ms(session.greeted_after()));
                session.finish().await?;
            }
            Ok(vec![median(times)])
        })
    }
}
