//! Whether listing gets dearer with what is stored: the same page from a small, a large and a huge home.
//! Peers are left out, since most take too long to make the data.

use std::path::{Path, PathBuf};
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
pub static HUGE: ListStored = ListStored::new("list-50000", 50_000, "first page of 50,000 threads");

/// So many threads of a home are made by the server; the others are copies of one of them.
const MADE: usize = 500;

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
        Box::pin(async {
            let count = ground.count(self.threads);
            stock(ground, count.min(MADE)).await?;
            copy_one(ground.stocked(), count.saturating_sub(MADE))?;
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

/// Copies a stored thread under other ids, as if its days had been many.
fn copy_one(home: &Path, copies: usize) -> Result<()> {
    let Some(original) = first_rollout(&home.join("sessions"))? else {
        return Ok(());
    };
    let name = original.to_string_lossy();
    let name = name.trim_end_matches(".jsonl");
    let id = name.len().checked_sub(36).and_then(|at| name.get(at..));
    let id = id.ok_or("a rollout without an id")?;
    let text = std::fs::read_to_string(&original)?;
    for copy in 0..copies {
        let (month, day) = (1 + copy % 12, 1 + copy / 12 % 28);
        let folder = home.join(format!("sessions/2025/{month:02}/{day:02}"));
        std::fs::create_dir_all(&folder)?;
        let other = format!("{}{copy:012x}", &id[..24]);
        let file = format!("rollout-2025-{month:02}-{day:02}T10-00-00-{other}.jsonl");
        std::fs::write(folder.join(file), text.replace(id, &other))?;
    }
    Ok(())
}

fn first_rollout(folder: &Path) -> Result<Option<PathBuf>> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_type()?.is_dir() {
            return Ok(Some(entry.path()));
        }
        if let Some(found) = first_rollout(&entry.path())? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}
