//! What threads hold that are loaded and at which nothing happens.

use super::{Figure, Goal, Row, Values};
use crate::ground::Ground;
use crate::load::Clients;

/// So many are loaded before anything is measured, so that what all threads share is there.
const FIRST: usize = 50;
const SOME: usize = 1_000;
const ALL: usize = 10_000;
/// A client may have only so many.
const PER_CLIENT: usize = 5_000;

pub struct Loaded;

impl Row for Loaded {
    fn name(&self) -> &'static str {
        "loaded"
    }

    fn figures(&self) -> &[Figure] {
        &[
            Figure {
                name: "a loaded idle thread",
                unit: "kB",
                goal: Goal::Limit(30.0),
            },
            Figure {
                name: "memory with 10,000 threads loaded",
                unit: "MB",
                goal: Goal::Limit(400.0),
            },
        ]
    }

    /// The official server takes minutes to start as many.
    fn compares(&self) -> bool {
        false
    }

    fn run<'a>(&'a self, ground: &'a Ground<'a>) -> Values<'a> {
        Box::pin(async {
            let all = ground.count(ALL);
            let mut clients = Clients::start(ground).await?;
            clients.connect(all.div_ceil(PER_CLIENT)).await?;
            clients.load(0, FIRST).await?;
            let before = clients.memory().await?;
            let some = ground.count(SOME);
            clients.load(0, some).await?;
            let each = (clients.memory().await? - before) * 1000.0 / some as f64;
            let mut left = all - FIRST - some;
            for client in 0..clients.count() {
                let room = PER_CLIENT.saturating_sub(if client == 0 { FIRST + some } else { 0 });
                let more = left.min(room);
                clients.load(client, more).await?;
                left -= more;
            }
            Ok(vec![each, clients.memory().await?])
        })
    }
}
