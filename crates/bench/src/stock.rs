//! Homes full of threads, and how long a new process takes to list them.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::json;

use crate::Result;
use crate::ground::Ground;
use crate::rows::ms;

/// So many threads of a home are made by the server where the others may be copies.
pub const MADE: usize = 50;

/// Lets the server fill its stocked home with threads of one turn. It is not made to hold more than some of
/// them.
pub async fn threads(ground: &Ground<'_>, mut count: usize) -> Result<()> {
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

/// The same, but the server makes only `made` of them; the others are copies, which it has not seen yet.
pub async fn many_threads(ground: &Ground<'_>, made: usize, count: usize) -> Result<()> {
    threads(ground, count.min(made)).await?;
    copy_one(ground.stock(), count.saturating_sub(made))
}

/// Removes the databases of a home, so that the next server finds everything again. Some look for threads
/// that others put there only then.
pub fn forget_indexes(home: &Path) -> Result<()> {
    for entry in std::fs::read_dir(home)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.contains(".sqlite") {
            std::fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// Milliseconds from before the process was made.
#[derive(Debug, Clone, Copy)]
pub struct ColdList {
    /// Until `initialize` was answered.
    pub greeted: f64,
    /// Until the first page of `thread/list` was there.
    pub listed: f64,
}

/// Starts a server in its stocked home and takes a page of its list.
pub async fn cold_list(ground: &Ground<'_>) -> Result<ColdList> {
    let session = ground.start_stocked().await?;
    let start = Instant::now();
    let page = session.call("thread/list", &json!({})).await?;
    let listed = session.greeted_after() + start.elapsed();
    let threads = page["data"].as_array().map_or(0, Vec::len);
    if threads < 20 {
        return Err(format!("the first page has only {threads} threads").into());
    }
    let greeted = ms(session.greeted_after());
    session.finish().await?;
    Ok(ColdList {
        greeted,
        listed: ms(listed),
    })
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
        let directory = home.join(format!("sessions/2025/{month:02}/{day:02}"));
        std::fs::create_dir_all(&directory)?;
        let other = format!("{}{copy:012x}", &id[..24]);
        let file = format!("rollout-2025-{month:02}-{day:02}T10-00-00-{other}.jsonl");
        std::fs::write(directory.join(file), text.replace(id, &other))?;
    }
    Ok(())
}

/// Any rollout in the directory or below it.
pub fn first_rollout(directory: &Path) -> Result<Option<PathBuf>> {
    for entry in std::fs::read_dir(directory)? {
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
