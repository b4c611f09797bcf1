//! Finding a file in a large tree: at once, and while somebody types.

use std::time::Instant;

use futures_util::future::BoxFuture;
use serde_json::json;

use super::{Figure, Goal, Row, Values, median, ms};
use crate::Result;
use crate::ground::Ground;

const FILES: usize = 100_000;
const PER_DIRECTORY: usize = 100;
/// What somebody types, letter by letter.
const QUERIES: [&str; 6] = ["m", "mo", "mod", "mod4", "mod42", "mod427"];

pub struct FileSearch;

impl Row for FileSearch {
    fn name(&self) -> &'static str {
        "file-search"
    }

    fn figures(&self) -> &[Figure] {
        &[
            Figure {
                name: "`fuzzyFileSearch` in 100,000 files",
                unit: "ms",
                goal: Goal::AtMost(0.5),
            },
            Figure {
                name: "`fuzzyFileSearch` in 100,000 files, CPU",
                unit: "ms",
                goal: Goal::AtMost(0.5),
            },
            Figure {
                name: "a keystroke in a search of 100,000 files",
                unit: "ms",
                goal: Goal::AtMost(1.0),
            },
        ]
    }

    fn prepare<'a>(&'a self, ground: &'a Ground<'a>) -> BoxFuture<'a, Result<()>> {
        Box::pin(async {
            for directory in 0..ground.count(FILES / PER_DIRECTORY) {
                let path = format!("tree/area{}/part{directory}", directory % 20);
                let path = ground.stock().join(path);
                std::fs::create_dir_all(&path)?;
                for file in 0..PER_DIRECTORY {
                    let name = format!("module_{}_{file}.rs", directory * 7 % 1009);
                    std::fs::write(path.join(name), "")?;
                }
            }
            Ok(())
        })
    }

    fn run<'a>(&'a self, ground: &'a Ground<'a>) -> Values<'a> {
        Box::pin(async {
            let mut session = ground.start_stocked().await?;
            let tree = ground.stock().join("tree");
            let before = session.cpu()?;
            let mut times = Vec::new();
            for query in QUERIES {
                let params = json!({"query": query, "roots": [tree]});
                let start = Instant::now();
                session.call("fuzzyFileSearch", &params).await?;
                times.push(ms(start.elapsed()));
            }
            let cpu = ms(session.cpu_since(before)?) / times.len() as f64;
            let start = json!({"sessionId": "typing", "roots": [tree]});
            session.search("sessionStart", &start).await?;
            let mut strokes = Vec::new();
            for query in QUERIES {
                let update = json!({"sessionId": "typing", "query": query});
                let start = Instant::now();
                session.search("sessionUpdate", &update).await?;
                strokes.push(ms(start.elapsed()));
            }
            Ok(vec![median(times), cpu, median(strokes)])
        })
    }
}
