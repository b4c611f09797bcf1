//! Whether listing gets dearer with what is stored: the same page from a small, a large and a huge home.

use std::time::Instant;

use futures_util::future::BoxFuture;
use serde_json::json;

use super::{Figure, Goal, Row, Values, median, ms};
use crate::ground::Ground;
use crate::{Result, stock};

pub struct ListStored {
    name: &'static str,
    threads: usize,
    figure: [Figure; 1],
}

pub static FEW: ListStored = ListStored::new("list-500", 500, "first page of 500 threads");
pub static MANY: ListStored = ListStored::new("list-5000", 5000, "first page of 5,000 threads");
pub static HUGE: ListStored = ListStored::new("list-50000", 50_000, "first page of 50,000 threads");

impl ListStored {
    const fn new(name: &'static str, threads: usize, figure: &'static str) -> ListStored {
        ListStored {
            name,
            threads,
            figure: [Figure {
                name: figure,
                unit: "ms",
                goal: Goal::None,
            }],
        }
    }
}

impl Row for ListStored {
    fn name(&self) -> &'static str {
        self.name
    }

    fn figures(&self) -> &[Figure] {
        &self.figure
    }

    fn prepare<'a>(&'a self, ground: &'a Ground<'a>) -> BoxFuture<'a, Result<()>> {
        Box::pin(async {
            let count = ground.count(self.threads);
            stock::many_threads(ground, stock::MADE, count).await?;
            stock::forget_indexes(ground.stock())?;
            // The index takes in the copies.
            let session = ground.start_stocked().await?;
            session.call("thread/list", &json!({})).await?;
            session.finish().await
        })
    }

    fn run<'a>(&'a self, ground: &'a Ground<'a>) -> Values<'a> {
        Box::pin(async {
            let session = ground.start_stocked().await?;
            let mut times = Vec::new();
            for _ in 0..20 {
                let start = Instant::now();
                session.call("thread/list", &json!({})).await?;
                times.push(ms(start.elapsed()));
            }
            session.finish().await?;
            Ok(vec![median(times)])
        })
    }
}
