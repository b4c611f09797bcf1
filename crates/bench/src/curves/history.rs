//! A turn late in a conversation.

use super::Curve;
use crate::ground::Ground;
use crate::rows::{Values, ms};

/// The turns that are measured, after those that the size counts.
const MEASURED: usize = 20;

pub struct History;

impl Curve for History {
    fn size_of(&self) -> &'static str {
        "turns of history"
    }

    fn sizes(&self) -> &'static [usize] {
        &[20, 200, 2000]
    }

    fn figures(&self) -> &'static [(&'static str, &'static str)] {
        &[("one turn after a history, CPU", "ms")]
    }

    fn measure<'a>(&'a self, ground: &'a Ground<'a>, size: usize) -> Values<'a> {
        Box::pin(async move {
            let mut session = ground.start().await?;
            let thread = session.thread().await?;
            for _ in 0..size {
                session.turn(&thread, "hello").await?;
            }
            let before = session.cpu()?;
            for _ in 0..MEASURED {
                session.turn(&thread, "hello").await?;
            }
            Ok(vec![ms(session.cpu_since(before)?) / MEASURED as f64])
        })
    }
}
