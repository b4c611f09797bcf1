//! How long a client that starts its own server waits for its list of conversations.

use std::time::Instant;

use futures_util::future::BoxFuture;
use serde_json::json;

use super::{Figure, Goal, Row, Values, ms};
use crate::Result;
use crate::ground::Ground;

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
        Box::pin(async { stock(ground, ground.count(1000)).await })
    }

    fn run<'a>(&'a self, ground: &'a Ground<'a>) -> Values<'a> {
        Box::pin(async {
            let session = ground.start_stocked().await?;
            let start = Instant::now();
            let page = session.call("thread/list", &json!({})).await?;
            let time = session.greeted_after() + start.elapsed();
            if page["data"]
                .as_array()
                .is_none_or(|threads| threads.len() < 20)
            {
                return Err("the first page is not full".into());
            }
            session.finish().await?;
            Ok(vec![ms(time)])
        })
    }
}

/// Fills a home with threads of one turn. A server is not made to hold more than some of them.
pub async fn stock(ground: &Ground<'_>, mut count: usize) -> Result<()> {
    while count > 0 {
        let now = count.min(100);
        count -= now;
        let mut session = ground.start_stocked().await?;
        let threads = session.threads(now).await?;
        for some in threads.chunks(10) {
            session.turns_at_once(some, 1, "hello").await?;
        }
        session.finish().await?;
    }
    Ok(())
}
