//! How long a client that starts its own server waits for its list of conversations.

use futures_util::future::BoxFuture;

use super::{Figure, Goal, Row, Values};
use crate::ground::Ground;
use crate::{Result, stock};

pub struct ListCold;

impl Row for ListCold {
    fn name(&self) -> &'static str {
        "list-cold"
    }

    fn figures(&self) -> &[Figure] {
        &[Figure {
            name: "first page of 1,000 threads, from the start of the process",
            unit: "ms",
            goal: Goal::AtMost(0.10),
        }]
    }

    fn prepare<'a>(&'a self, ground: &'a Ground<'a>) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { stock::threads(ground, ground.count(1000)).await })
    }

    fn run<'a>(&'a self, ground: &'a Ground<'a>) -> Values<'a> {
        Box::pin(async { Ok(vec![stock::cold_list(ground).await?.listed]) })
    }
}
