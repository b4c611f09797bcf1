//! A large file on its way to a client.

use std::time::Instant;

use serde_json::json;

use super::{Figure, Goal, Row, Values, median, ms};
use crate::Result;
use crate::ground::Ground;

const SIZE: usize = 16 * 1024 * 1024;
const NAME: &str = "large";

pub struct ReadFile;

impl Row for ReadFile {
    fn name(&self) -> &'static str {
        "read-file"
    }

    fn figures(&self) -> &[Figure] {
        &[
            Figure {
                name: "`fs/readFile` of 16 MB",
                unit: "ms",
                goal: Goal::AtMost(0.5),
            },
            Figure {
                name: "`fs/readFile` of 16 MB, CPU",
                unit: "ms",
                goal: Goal::AtMost(0.5),
            },
            Figure {
                name: "most memory while 16 MB are read",
                unit: "MB",
                goal: Goal::AtMost(1.0),
            },
        ]
    }

    fn prepare<'a>(
        &'a self,
        ground: &'a Ground<'a>,
    ) -> futures_util::future::BoxFuture<'a, Result<()>> {
        Box::pin(async {
            let bytes: Vec<u8> = (0..SIZE).map(|n| (n * 31 % 251) as u8).collect();
            Ok(std::fs::write(ground.stock().join(NAME), bytes)?)
        })
    }

    fn run<'a>(&'a self, ground: &'a Ground<'a>) -> Values<'a> {
        Box::pin(async {
            let session = ground.start_stocked().await?;
            let params = json!({"path": ground.stock().join(NAME)});
            let before = session.cpu()?;
            let mut times = Vec::new();
            for _ in 0..ground.count(10) {
                let start = Instant::now();
                session.call("fs/readFile", &params).await?;
                times.push(ms(start.elapsed()));
            }
            let cpu = ms(session.cpu_since(before)?) / times.len() as f64;
            Ok(vec![median(times), cpu, session.peak_memory()?])
        })
    }
}
