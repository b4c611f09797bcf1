//! One event to one connection while many are open.

use super::Curve;
use crate::ground::Ground;
use crate::load::Load;
use crate::rows::Values;

pub struct Connections;

impl Curve for Connections {
    fn size_of(&self) -> &'static str {
        "websocket connections"
    }

    fn sizes(&self) -> &'static [usize] {
        &[10, 100, 1000]
    }

    fn figures(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("one event to one of the connections, CPU", "µs"),
            ("memory with the connections open", "MB"),
        ]
    }

    fn measure<'a>(&'a self, ground: &'a Ground<'a>, size: usize) -> Values<'a> {
        Box::pin(async move {
            let load = Load {
                connections: size,
                threads: 1,
                deltas: ground.count(1000),
            };
            let outcome = load.put_on(ground.subject(), ground.model()).await?;
            Ok(vec![outcome.cpu_per_event(), outcome.memory()])
        })
    }
}
