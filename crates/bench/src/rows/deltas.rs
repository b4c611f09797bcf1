//! One long answer in small pieces: the cost of a delta from the model's socket to the client.

use super::{Figure, Goal, Row, Values, ms};
use crate::ground::Ground;

pub struct Deltas;

impl Row for Deltas {
    fn name(&self) -> &'static str {
        "deltas"
    }

    fn figures(&self) -> &[Figure] {
        &[
            Figure {
                name: "one turn of 20,000 deltas",
                unit: "ms",
                goal: Goal::AtMost(0.04),
            },
            Figure {
                name: "one turn of 20,000 deltas, CPU",
                unit: "ms",
                goal: Goal::AtMost(0.04),
            },
        ]
    }

    fn run<'a>(&'a self, ground: &'a Ground<'a>) -> Values<'a> {
        Box::pin(async {
            let mut session = ground.start().await?;
            let thread = session.thread().await?;
            let prompt = format!(r#"{{"mock":[{{"deltas":{}}}]}}"#, ground.count(20_000));
            let before = session.cpu()?;
            let times = session.turn(&thread, &prompt).await?;
            Ok(vec![ms(times.whole), ms(session.cpu_since(before)?)])
        })
    }
}
