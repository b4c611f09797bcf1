//! Takes in the append-only files beside the rollouts: names and git facts. The last line of an id
//! wins. How far each file was read is kept, so only new lines are read again.

use std::fs::File;
use std::io::{Seek, SeekFrom};

use quipu_wire::Json;
use rusqlite::{Connection, OptionalExtension, params};
use serde::Deserialize;
use uuid::Uuid;

use super::Index;
use crate::error::Result;
use crate::layout::{GIT, NAMES};
use crate::lines::{Line, LineReader};

/// Longer files are not read: nobody names so many threads.
const MAX_BYTES: u64 = 1 << 30;

/// A line of either file.
#[derive(Deserialize)]
struct Entry {
    id: Uuid,
    #[serde(default)]
    thread_name: Option<String>,
    #[serde(default)]
    git: Option<Json>,
}

impl Index {
    /// Reads what was added to the files since the last time.
    pub(super) fn catch_up(&mut self) -> Result<()> {
        self.take_in(NAMES, "names", |entry| entry.thread_name)?;
        self.take_in(GIT, "git", |entry| {
            entry.git.map(|git| git.get().to_owned())
        })
    }

    fn take_in(
        &mut self,
        name: &str,
        table: &str,
        value: fn(Entry) -> Option<String>,
    ) -> Result<()> {
        let Ok(mut file) = quipu_disk::open(&self.home.join(name)) else {
            return Ok(());
        };
        let len = file.metadata().map_or(0, |state| state.len());
        if len > MAX_BYTES {
            tracing::warn!(name, len, max = MAX_BYTES, "file ignored: too long");
            return Ok(());
        }
        let read_to: u64 = self
            .db
            .prepare_cached("SELECT value FROM about WHERE key = ?")?
            .query_row([name], |row| row.get::<_, String>(0))
            .optional()?
            .and_then(|value| value.parse().ok())
            .unwrap_or_default();
        if len == read_to {
            return Ok(());
        }
        let from = if len < read_to { 0 } else { read_to };
        if file.seek(SeekFrom::Start(from)).is_err() {
            return Ok(());
        }
        self.write(|db| {
            if from == 0 {
                db.execute(&format!("DELETE FROM {table}"), [])?;
            }
            let read_to = from + store_lines(db, file, table, value)?;
            db.execute(
                "INSERT OR REPLACE INTO about VALUES (?, ?)",
                params![name, read_to.to_string()],
            )
            .map(drop)
        })
    }
}

/// Stores whole lines and returns how many bytes they take up.
fn store_lines(
    db: &Connection,
    file: File,
    table: &str,
    value: fn(Entry) -> Option<String>,
) -> rusqlite::Result<u64> {
    let mut insert = db.prepare(&format!("INSERT OR REPLACE INTO {table} VALUES (?, ?)"))?;
    let mut lines = LineReader::new(file);
    let mut read_to = 0;
    while let Ok(Some((offset, line))) = lines.next_line() {
        let line = match line {
            Line::Whole(line) => line,
            Line::TooLong(len) => {
                read_to = offset + len + 1;
                continue;
            }
            Line::Unterminated(_) => break,
        };
        read_to = offset + line.len() as u64 + 1;
        if let Ok(entry) = serde_json::from_slice::<Entry>(line) {
            let id = entry.id.to_string();
            if let Some(value) = value(entry) {
                insert.execute(params![id, value])?;
            }
        }
    }
    Ok(read_to)
}
