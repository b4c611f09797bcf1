//! What must be shipped.

use super::{Figure, Goal, Row, Values};
use crate::ground::Ground;

pub struct BinarySize;

impl Row for BinarySize {
    fn name(&self) -> &'static str {
        "binary-size"
    }

    fn figures(&self) -> &[Figure] {
        &[Figure {
            name: "binary size",
            unit: "MB",
            goal: Goal::AtMost(0.15),
        }]
    }

    fn run<'a>(&'a self, ground: &'a Ground<'a>) -> Values<'a> {
        Box::pin(async {
            let metadata = std::fs::metadata(&ground.subject().program)?;
            Ok(vec![metadata.len() as f64 / 1e6])
        })
    }
}
