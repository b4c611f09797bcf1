//! What a client holds that is connected and silent.

use super::{Figure, Goal, Row, Values};
use crate::files;
use crate::ground::Ground;
use crate::load::Clients;

const FIRST: usize = 50;
const ALL: usize = 5_000;

pub struct WebSockets;

impl Row for WebSockets {
    fn name(&self) -> &'static str {
        "websockets"
    }

    fn figures(&self) -> &[Figure] {
        &[Figure {
            name: "one of 5,000 idle websocket clients",
            unit: "kB",
            goal: Goal::Limit(40.0),
        }]
    }

    /// Other servers need not admit as many.
    fn compares(&self) -> bool {
        false
    }

    fn lacks(&self) -> Option<&'static str> {
        let needed = 2 * ALL as u64 + 200;
        (!files::allows(needed)).then_some("needs `ulimit -n` of at least 10200")
    }

    fn run<'a>(&'a self, ground: &'a Ground<'a>) -> Values<'a> {
        Box::pin(async {
            let mut clients = Clients::start(ground).await?;
            clients.connect(FIRST).await?;
            let before = clients.memory().await?;
            let all = ground.count(ALL);
            clients.connect(all).await?;
            let each = (clients.memory().await? - before) * 1000.0 / all as f64;
            Ok(vec![each])
        })
    }
}
