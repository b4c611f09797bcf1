//! A command of the model that prints much.

use super::Curve;
use crate::ground::Ground;
use crate::rows::{Values, ms, printing};

pub struct Output;

impl Curve for Output {
    fn size_of(&self) -> &'static str {
        "lines that a command prints"
    }

    fn sizes(&self) -> &'static [usize] {
        &[10_000, 100_000, 1_000_000]
    }

    fn figures(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("one line of a command's output, CPU", "µs"),
            ("most memory while a command prints", "MB"),
        ]
    }

    fn measure<'a>(&'a self, ground: &'a Ground<'a>, size: usize) -> Values<'a> {
        Box::pin(async move {
            let mut session = ground.start().await?;
            let thread = session.thread().await?;
            let before = session.cpu()?;
            session.turn(&thread, &printing(size)).await?;
            let cpu = ms(session.cpu_since(before)?) * 1e3 / size as f64;
            Ok(vec![cpu, session.peak_memory()?])
        })
    }
}
