//! Many conversations at once in one server: throughput, and what they hold afterwards.

use std::time::Instant;

use super::{Figure, Goal, Row, Values, ms};
use crate::ground::Ground;

const THREADS: usize = 40;
const TURNS_EACH: usize = 5;

pub struct Parallel;

impl Row for Parallel {
    fn name(&self) -> &'static str {
        "parallel"
    }

    fn figures(&self) -> &[Figure] {
        &[
            Figure {
                name: "turns per second, 40 threads at once",
                unit: "1/s",
                goal: Goal::AtLeast(80.0),
            },
            Figure {
                name: "one turn among 40 threads, CPU",
                unit: "ms",
                goal: Goal::AtMost(0.04),
            },
            Figure {
                name: "memory with 40 threads loaded",
                unit: "MB",
                goal: Goal::AtMost(0.20),
            },
        ]
    }

    fn run<'a>(&'a self, ground: &'a Ground<'a>) -> Values<'a> {
        Box::pin(async {
            let mut session = ground.start().await?;
            let threads = session.threads(ground.count(THREADS)).await?;
            let turns = (threads.len() * TURNS_EACH) as f64;
            let before = session.cpu()?;
            let start = Instant::now();
            session.turns_at_once(&threads, TURNS_EACH, "hello").await?;
            let wall = start.elapsed();
            let cpu = session.cpu_since(before)?;
            let memory = session.memory().await?;
            Ok(vec![turns / wall.as_secs_f64(), ms(cpu) / turns, memory])
        })
    }
}
