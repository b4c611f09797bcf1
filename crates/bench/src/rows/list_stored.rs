//! Whether listing gets dearer with what is stored: the same page from a small and a large home. Peers
//! are left out, since most take too long to make the data.

use std::time::Instant;

use futures_util::future::BoxFuture;
use serde_json::json;

use super::list_cold::stock;
use super::{Figure, Goal, Row, Values, median, ms};
use crate::Result;
use crate::ground::Ground;

pub struct ListStored {
    name: &'static str,
    threads: usize,
    figure: [Figure; 1],
}

pub static FEW: ListStored = ListStored::new("list-500", 500, "first page of 500 threads");
pub static MANY: ListStored = ListStored::new("list-5000", 5000, "first page of 5,000 threads");

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

    fn compares(&self) -> bool {
        false
    }

    fn prepare<'a>(&'a self, ground: &'a Ground<'a>) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { stock(ground, ground.count(self.threads)).await })
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
