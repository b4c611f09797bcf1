//! What a server holds that was greeted and then left alone.

use super::{Figure, Goal, Row, Values};
use crate::ground::Ground;

pub struct IdleMemory;

impl Row for IdleMemory {
    fn name(&self) -> &'static str {
        "idle-memory"
    }

    fn figures(&self) -> &[Figure] {
        &[Figure {
            name: "idle memory",
            unit: "MB",
            goal: Goal::AtMost(0.15),
        }]
    }

    fn run<'a>(&'a self, ground: &'a Ground<'a>) -> Values<'a> {
        Box::pin(async {
            let session = ground.start().await?;
            Ok(vec![session.memory().await?])
        })
    }
}
