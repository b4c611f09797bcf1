//! Reads single rollouts into their rows, and keeps the rows as fresh as the files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, Row, params};
use uuid::Uuid;

use super::directories::{self, forget, mtime_nanos, mtime_secs, size};
use super::segments::settle;
use super::{Index, State};
use crate::error::Result;
use crate::head::{Head, Listing};
use crate::layout::RolloutName;
use crate::query::Summary;
use crate::session::GitInfo;

/// The columns [`summary`] reads, in its order; the tables are `threads t`, `names n`, `git g`.
pub(super) const COLUMNS: &str = "t.path, t.id, t.archived, t.created_at, t.updated_at, t.preview,
    t.provider, t.cwd, t.version, t.source, t.nickname, t.role, coalesce(g.value, t.git), n.value";
pub(super) const TABLES: &str = "threads t LEFT JOIN names n ON n.id = t.id
    LEFT JOIN git g ON g.id = t.id";

/// A file as the index last saw it.
pub(super) struct Seen {
    pub path: String,
    pub mtime: i64,
    pub size: i64,
    pub state: i64,
}

impl Seen {
    pub fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            path: row.get(0)?,
            mtime: row.get(1)?,
            size: row.get(2)?,
            state: row.get(3)?,
        })
    }
}

impl Index {
    /// All that lists show of one thread.
    pub fn get(&mut self, id: Uuid) -> Result<Option<Summary>> {
        self.catch_up()?;
        // Once is enough, and a file that never stops growing must not keep us here.
        let mut refreshed = false;
        loop {
            let Some(seen) = self.locate(id, None)? else {
                return Ok(None);
            };
            if !std::mem::replace(&mut refreshed, true) && self.refresh([&seen])? {
                continue;
            }
            if seen.state == State::Seen as i64 {
                self.read_heads(&[seen])?;
                continue;
            }
            let sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE t.path = ?");
            let mut statement = self.db.prepare_cached(&sql)?;
            let row = statement.query_row([&seen.path], |row| summary(&self.home, row));
            return Ok(row.optional()?);
        }
    }

    /// Where the rollout of a thread is.
    pub fn find(&mut self, id: Uuid, archived: bool) -> Result<Option<PathBuf>> {
        let seen = self.locate(id, Some(archived))?;
        Ok(seen.map(|seen| self.home.join(seen.path)))
    }

    /// Finds the rollout of a thread: where the index knows it to be, else where its id says it
    /// should be, else anywhere. Where there can be a newer one, that is looked for.
    fn locate(&mut self, id: Uuid, archived: Option<bool>) -> Result<Option<Seen>> {
        let Some(seen) = self.locate_any(id, archived)? else {
            return Ok(None);
        };
        if archived != Some(true) && self.look_for_newer(&seen)? {
            return self.known(id, archived);
        }
        Ok(Some(seen))
    }

    fn locate_any(&mut self, id: Uuid, archived: Option<bool>) -> Result<Option<Seen>> {
        if let Some(seen) = self.known(id, archived)? {
            return Ok(Some(seen));
        }
        if archived != Some(true) {
            for directory in directories::around(id) {
                self.look_at(&directory)?;
            }
        }
        if archived != Some(false) {
            self.look_at_archive()?;
        }
        if let Some(seen) = self.known(id, archived)? {
            return Ok(Some(seen));
        }
        if archived != Some(true) {
            self.look_everywhere()?;
        }
        self.known(id, archived)
    }

    /// The newest rollout of this id that the index knows and that is still there.
    fn known(&mut self, id: Uuid, archived: Option<bool>) -> Result<Option<Seen>> {
        let mut statement = self.db.prepare_cached(
            "SELECT path, mtime, size, state FROM threads
             WHERE id = ?1 AND archived = coalesce(?2, archived)
             ORDER BY archived, state = ?3, mtime DESC",
        )?;
        let found: Vec<Seen> = statement
            .query_map(
                params![id.to_string(), archived, State::Superseded as i64],
                Seen::read,
            )?
            .collect::<rusqlite::Result<_>>()?;
        Ok(found
            .into_iter()
            .find(|seen| self.home.join(&seen.path).exists()))
    }

    /// Compares rows with their files; says whether any row changed.
    pub(super) fn refresh<'a>(&mut self, rows: impl IntoIterator<Item = &'a Seen>) -> Result<bool> {
        let mut stale = Vec::new();
        for row in rows {
            match fs::metadata(self.home.join(&row.path)) {
                Ok(file) if (mtime_nanos(&file), size(&file)) == (row.mtime, row.size) => {}
                Ok(file) => stale.push((row, Some(file))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => stale.push((row, None)),
                Err(_) => {}
            }
        }
        if stale.is_empty() {
            return Ok(false);
        }
        self.write(|db| {
            let mut update = db.prepare_cached(
                "UPDATE threads SET mtime = ?2, size = ?3, updated_at = ?4, state = ?5
                 WHERE path = ?1 AND mtime = ?6 AND size = ?7",
            )?;
            for (row, file) in stale {
                let Some(file) = file else {
                    forget(db, &row.path)?;
                    if let Some(name) = RolloutName::of(Path::new(&row.path)) {
                        settle(db, name.id)?;
                    }
                    continue;
                };
                // The head of a file that only grew is what it was, if it was all there.
                let same_head = row.state == State::Listed as i64 && size(&file) >= row.size;
                let kept = same_head || row.state == State::Superseded as i64;
                let state = if kept { row.state } else { State::Seen as i64 };
                update.execute(params![
                    row.path,
                    mtime_nanos(&file),
                    size(&file),
                    mtime_secs(&file),
                    state,
                    row.mtime,
                    row.size,
                ])?;
            }
            Ok(true)
        })
    }

    /// Reads the heads of rollouts into their rows.
    pub(super) fn read_heads(&mut self, unread: &[Seen]) -> Result<()> {
        let heads: Vec<Head> = unread.iter().map(|seen| self.head(seen)).collect();
        self.write(|db| {
            let mut rows = unread.iter().zip(&heads);
            rows.try_for_each(|(seen, head)| store_head(db, seen, head))
        })
    }
}

/// Stores a head, unless the row has changed since it was looked up: then the head may be that of
/// an older file.
fn store_head(db: &Connection, seen: &Seen, head: &Head) -> rusqlite::Result<()> {
    let listing = Listing::of_head(head, RolloutName::of(Path::new(&seen.path)));
    let state = if listing.preview.is_some() {
        State::Listed
    } else {
        State::Silent
    };
    db.prepare_cached(
        "UPDATE threads SET state = ?2, id = ?3, created_at = coalesce(?4, created_at), kind = ?5,
             source = ?6, provider = ?7, cwd = ?8, preview = ?9, version = ?10, nickname = ?11,
             role = ?12, git = ?13
         WHERE path = ?1 AND state = ?14 AND mtime = ?15 AND size = ?16",
    )?
    .execute(params![
        seen.path,
        state as i64,
        listing.thread.to_string(),
        listing.created_at,
        listing.kind,
        listing.source,
        listing.provider,
        listing.cwd,
        listing.preview.unwrap_or_default(),
        listing.version,
        listing.nickname,
        listing.role,
        listing.git,
        seen.state,
        seen.mtime,
        seen.size,
    ])
    .map(drop)
}

/// Reads the columns [`COLUMNS`] of a row whose head is read.
pub(super) fn summary(home: &Path, row: &Row<'_>) -> rusqlite::Result<Summary> {
    let source: Option<String> = row.get(9)?;
    let git: Option<String> = row.get(12)?;
    Ok(Summary {
        path: home.join(row.get::<_, String>(0)?),
        id: Uuid::try_parse(&row.get::<_, String>(1)?).unwrap_or_default(),
        archived: row.get(2)?,
        created_at: row.get(3)?,
        updated_at: row.get(4)?,
        preview: row.get::<_, Option<String>>(5)?.unwrap_or_default(),
        provider: row.get(6)?,
        cwd: row.get::<_, Option<String>>(7)?.unwrap_or_default(),
        cli_version: row.get::<_, Option<String>>(8)?.unwrap_or_default(),
        source: source
            .and_then(|json| serde_json::from_str(&json).ok())
            .unwrap_or_default(),
        agent_nickname: row.get(10)?,
        agent_role: row.get(11)?,
        git: git
            .and_then(|json| serde_json::from_str(&json).ok())
            .filter(|git: &GitInfo| !git.is_empty()),
        name: row.get(13)?,
    })
}
