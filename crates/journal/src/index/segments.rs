//! Threads that lie in more than one rollout. When the official program takes back turns of a paginated
//! thread, it goes on in a new file that begins with a part of the old one; a fork begins with a part of
//! another thread.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};
use uuid::Uuid;

use super::directories::{self, Days, end_of};
use super::rows::Seen;
use super::{Index, State};
use crate::chain::{self, Chain};
use crate::error::Result;
use crate::head::Head;
use crate::layout::RolloutName;

impl Index {
    /// Opens a rollout with the parts of others that it begins with.
    pub fn chain(&mut self, path: &Path) -> Result<Chain> {
        chain::complete(path, chain::open_file, |segment| self.segment(segment))
    }

    /// All rollouts of a thread that are archived, or those that are not; the newest first.
    pub fn files(&mut self, id: Uuid, archived: bool) -> Result<Vec<PathBuf>> {
        if self.find(id, archived)?.is_none() {
            return Ok(Vec::new());
        }
        let sql = "SELECT path FROM threads WHERE id = ? AND archived = ?";
        let mut files: Vec<PathBuf> = self
            .db
            .prepare_cached(sql)?
            .query_map(params![id.to_string(), archived], |row| {
                row.get::<_, String>(0)
            })?
            .map(|path| Ok(self.home.join(path?)))
            .collect::<rusqlite::Result<_>>()?;
        files.retain(|path| path.exists());
        files.sort_by_key(|path| Reverse(RolloutName::of(path).and_then(|name| name.segment)));
        Ok(files)
    }

    /// The head of a rollout.
    pub(super) fn head(&mut self, seen: &Seen) -> Head {
        let path = self.home.join(&seen.path);
        let head = Head::read(&path).unwrap_or_default();
        head.complete(&path, || self.chain(&path))
    }

    /// Looks into the directories where a rollout could be that took the place of this one; says whether there
    /// was anything new. Only paginated threads have such.
    pub(super) fn look_for_newer(&mut self, seen: &Seen) -> Result<bool> {
        let path = self.home.join(&seen.path);
        let meta = Chain::open(&path, chain::open_file)
            .ok()
            .and_then(|chain| chain.meta);
        if !meta.is_some_and(|meta| meta.is_paginated()) {
            return Ok(false);
        }
        let created = RolloutName::of(&path).map(|name| name.created.and_utc().timestamp());
        let mut changed = false;
        for day in Days::new(&self.home) {
            if created.is_some_and(|created| end_of(&day) < created) {
                break;
            }
            changed |= self.look_at(&day)?;
        }
        Ok(changed)
    }

    /// Where the rollout is that others call by this id.
    pub fn segment(&mut self, id: Uuid) -> Result<Option<PathBuf>> {
        if let Some(path) = self.known_segment(id)? {
            return Ok(Some(path));
        }
        for directory in directories::around(id) {
            self.look_at(&directory)?;
        }
        self.look_at_archive()?;
        if let Some(path) = self.known_segment(id)? {
            return Ok(Some(path));
        }
        self.look_everywhere()?;
        self.known_segment(id)
    }

    fn known_segment(&self, id: Uuid) -> Result<Option<PathBuf>> {
        let sql = "SELECT path FROM threads WHERE segment = ? ORDER BY archived";
        let mut statement = self.db.prepare_cached(sql)?;
        let paths: Vec<String> = statement
            .query_map([id.to_string()], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        let mut paths = paths.into_iter().map(|path| self.home.join(path));
        Ok(paths.find(|path| path.exists()))
    }
}

/// Lets only the newest rollout of a thread count, among those that are archived and those that are not.
pub(super) fn settle(db: &Connection, id: Uuid) -> rusqlite::Result<()> {
    let mut rows: Vec<(String, bool, i64)> = db
        .prepare_cached("SELECT path, archived, state FROM threads WHERE id = ?")?
        .query_map([id.to_string()], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    let segment = |path: &str| RolloutName::of(Path::new(path)).and_then(|name| name.segment);
    if rows.iter().all(|(path, ..)| segment(path).is_none()) && !rows.iter().any(is_superseded) {
        return Ok(());
    }
    rows.sort_by_key(|(path, archived, _)| (*archived, Reverse(segment(path))));
    let mut newest = None;
    for (path, archived, state) in rows {
        let is_newest = newest.replace(archived) != Some(archived);
        let known = match is_newest {
            true if state == State::Superseded as i64 => State::Seen as i64,
            true => state,
            false => State::Superseded as i64,
        };
        db.prepare_cached("UPDATE threads SET state = ? WHERE path = ?")?
            .execute(params![known, path])?;
    }
    Ok(())
}

fn is_superseded((_, _, state): &(String, bool, i64)) -> bool {
    *state == State::Superseded as i64
}
