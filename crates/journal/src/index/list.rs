//! Answers lists, looking at no more files than the answer needs.
//!
//! A page is taken from the index, and then checked: directories that could hold newer threads, heads
//! not yet read that could belong above the end of the page, and the files on the page themselves.
//! Whatever is found goes into the index and the page is taken again. So the cost of a page depends
//! on what changed and on its size, not on how many threads there are. Of a directory that is new, only the rollouts
//! that could be on the page get rows; the others get theirs from the calls that need them.

use std::collections::HashSet;
use std::iter::Peekable;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, named_params, params};
use uuid::Uuid;

use super::directories::{Days, end_of};
use super::rows::{COLUMNS, Seen, TABLES, summary};
use super::{Index, State};
use crate::error::Result;
use crate::query::{Cursor, Page, Query, Summary};
use crate::touched::Changes;

/// How many heads to read, how many rows to add for each directory, and how many directories to look at, in the first
/// round of checks. Each round does twice as many as the one before.
const FIRST_HEADS: usize = 64;
const FIRST_ROWS: usize = 64;
const FIRST_DIRECTORYS: usize = 1;
/// How many rows without a message to look at again, in case there is one now.
const SILENT: usize = 64;
/// How many files to check for changes before a list by time of change: half of them those that
/// changed last, half in turn. Homes of up to this size are always exact; in larger ones a change
/// that another program makes to a thread long at rest may be listed a few calls late.
const SWEEP: usize = 1024;

/// A page, and what there is to check about it, as the index knows them at one moment.
struct Draft {
    rows: Vec<(Seen, Summary)>,
    /// The sort key of the first thread after the page; nothing below it matters.
    floor: Option<i64>,
    /// Heads not yet read that could belong above the floor.
    unread: Vec<Seen>,
    /// The newest threads in which nothing was said so far.
    silent: Vec<Seen>,
}

/// What was checked so far for one list.
struct Checked {
    days: Peekable<Days>,
    archive: bool,
    directories: usize,
    rows: usize,
    /// Directories in which rollouts have no rows yet, with a time that none of those was created after.
    left: Vec<(PathBuf, i64)>,
    heads: usize,
    /// Files, each checked once, so that those being written to do not keep us here.
    files: HashSet<String>,
}

impl Index {
    /// One page of a list; `changes` is what this process has written since the last one.
    pub fn page(&mut self, query: &Query, changes: Changes) -> Result<Page> {
        let limit = query.limit.max(1);
        self.catch_up()?;
        self.take_changes(changes)?;
        if query.by_change() {
            self.sweep(query.archived)?;
        }
        let mut checked = Checked {
            days: Days::new(&self.home).peekable(),
            archive: false,
            directories: FIRST_DIRECTORYS,
            rows: FIRST_ROWS,
            left: Vec::new(),
            heads: FIRST_HEADS,
            files: HashSet::new(),
        };
        loop {
            let draft = self.draft(query, limit, checked.heads)?;
            if self.check_heads(&draft, &mut checked)?
                || self.check_directories(query, draft.floor, &mut checked)?
                || self.check_files(&draft, &mut checked)?
            {
                continue;
            }
            let mut threads: Vec<_> = draft.rows.into_iter().map(|(_, thread)| thread).collect();
            let more = threads.len() > limit;
            threads.truncate(limit);
            let last = threads.last().filter(|_| more);
            let next = last.map(|last| Cursor {
                secs: query.key(last),
                id: last.id,
            });
            return Ok(Page { threads, next });
        }
    }

    fn draft(&self, query: &Query, limit: usize, heads: usize) -> Result<Draft> {
        // One snapshot for all: a row that another process moves from one state to the next is
        // found in one of them.
        let snapshot = self.db.unchecked_transaction()?;
        let rows = select(&self.db, &self.home, query, limit + 1)?;
        // A list with the oldest first ends with the newest, so nothing is below what matters.
        let end = rows.get(limit).filter(|_| !query.ascending);
        let floor = end.map(|(_, last)| query.key(last));
        let key = key_column(query);
        let unread = self.seen(
            &format!("archived = ? AND state = ? AND {key} >= ? ORDER BY {key} DESC LIMIT ?"),
            params![
                query.archived,
                State::Seen as i64,
                floor.unwrap_or(i64::MIN),
                heads as i64
            ],
        )?;
        let silent = self.seen(
            "archived = ? AND state = ? ORDER BY created_at DESC LIMIT ?",
            params![query.archived, State::Silent as i64, SILENT as i64],
        )?;
        snapshot.commit()?;
        Ok(Draft {
            rows,
            floor,
            unread,
            silent,
        })
    }

    /// Looks at some directories that may hold threads above the floor; says whether there were any.
    fn check_directories(
        &mut self,
        query: &Query,
        floor: Option<i64>,
        checked: &mut Checked,
    ) -> Result<bool> {
        if query.archived {
            let first = !std::mem::replace(&mut checked.archive, true);
            if first {
                self.look_at_archive()?;
            }
            return Ok(first);
        }
        if query.by_change() {
            // Neither the day of a directory nor the name of a file says anything about changes.
            checked.rows = usize::MAX;
        }
        let floor = floor.filter(|_| !query.by_change());
        let is_above = |latest: i64| floor.is_none_or(|floor| latest >= floor);
        let (mut looking, left) = std::mem::take(&mut checked.left)
            .into_iter()
            .partition::<Vec<_>, _>(|(_, latest)| is_above(*latest));
        checked.left = left;
        let days = std::iter::from_fn(|| checked.days.next_if(|day| is_above(end_of(day))));
        looking.extend(days.take(checked.directories).map(|day| (day, i64::MAX)));
        let days: Vec<PathBuf> = looking.into_iter().map(|(day, _)| day).collect();
        let looked = self.look_at_newest(&days, checked.rows)?;
        let is_any = !days.is_empty();
        let left = days.into_iter().zip(looked);
        let left = left.filter_map(|(day, looked)| Some((day, looked.left?)));
        checked.left.extend(left);
        checked.directories *= 2;
        checked.rows = checked.rows.saturating_mul(2);
        Ok(is_any)
    }

    /// Reads heads that may belong above the floor; says whether there were any.
    fn check_heads(&mut self, draft: &Draft, checked: &mut Checked) -> Result<bool> {
        if draft.unread.is_empty() {
            return Ok(false);
        }
        checked.heads *= 2;
        self.read_heads(&draft.unread)?;
        Ok(true)
    }

    /// Compares rows with their files; says whether any had changed.
    fn check_files(&mut self, draft: &Draft, checked: &mut Checked) -> Result<bool> {
        let rows = draft.rows.iter().map(|(seen, _)| seen).chain(&draft.silent);
        let unchecked: Vec<_> = rows
            .filter(|row| checked.files.insert(row.path.clone()))
            .collect();
        self.refresh(unchecked)
    }

    /// Checks the files this process has written.
    fn take_changes(&mut self, changes: Changes) -> Result<()> {
        let mut rows = Vec::new();
        match changes {
            Changes::Many => rows = self.seen("true", [])?,
            Changes::Paths(paths) => {
                for path in paths
                    .iter()
                    .filter_map(|path| path.strip_prefix(&self.home).ok())
                {
                    rows.extend(self.seen("path = ?", [path.to_string_lossy()])?);
                }
            }
        }
        self.refresh(&rows).map(drop)
    }

    /// Checks the files that changed last, and the next ones in turn, for changes by others.
    fn sweep(&mut self, archived: bool) -> Result<()> {
        let half = (SWEEP / 2) as i64;
        let mut rows = self.seen(
            "archived = ? AND state = ? ORDER BY updated_at DESC LIMIT ?",
            params![archived, State::Listed as i64, half],
        )?;
        let in_turn = self.seen(
            "path > ? ORDER BY path LIMIT ?",
            params![self.swept_to, half],
        )?;
        let more = in_turn.len() as i64 == half;
        let last = in_turn.last().filter(|_| more);
        self.swept_to = last.map(|row| row.path.clone()).unwrap_or_default();
        rows.extend(in_turn);
        self.refresh(&rows).map(drop)
    }

    fn seen(&self, condition: &str, params: impl rusqlite::Params) -> Result<Vec<Seen>> {
        let sql = format!("SELECT path, mtime, size, state FROM threads WHERE {condition}");
        let mut statement = self.db.prepare_cached(&sql)?;
        let rows = statement.query_map(params, Seen::read)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

/// The page as the index knows it.
fn select(
    db: &Connection,
    home: &Path,
    query: &Query,
    limit: usize,
) -> Result<Vec<(Seen, Summary)>> {
    let key = key_column(query);
    let (beyond, order) = match query.ascending {
        true => (">", "ASC"),
        false => ("<", "DESC"),
    };
    let start = match query.ascending {
        true => i64::MIN,
        false => i64::MAX,
    };
    let sql = format!(
        "SELECT {COLUMNS}, t.mtime, t.size FROM {TABLES}
         WHERE t.archived = :archived AND t.state = :listed
             AND (t.{key}, t.id) {beyond} (:secs, :id)
             AND (:providers IS NULL OR t.provider IS NULL
                 OR t.provider IN (SELECT value FROM json_each(:providers)))
             AND t.kind IN (SELECT value FROM json_each(:kinds))
             AND (:cwds IS NULL OR t.cwd IN (SELECT value FROM json_each(:cwds)))
             AND (:only IS NULL OR t.id IN (SELECT value FROM json_each(:only)))
             AND t.id NOT IN (SELECT value FROM json_each(:excluded))
             AND (:search IS NULL OR instr(t.preview, :search) > 0)
         ORDER BY t.{key} {order}, t.id {order} LIMIT :limit"
    );
    let list = |words: &Vec<String>| serde_json::to_string(words).unwrap_or_default();
    let ids = |ids: &[Uuid]| list(&ids.iter().map(Uuid::to_string).collect());
    let mut statement = db.prepare_cached(&sql)?;
    let rows = statement.query_map(
        named_params! {
            ":archived": query.archived,
            ":listed": State::Listed as i64,
            ":secs": query.after.map_or(start, |after| after.secs),
            ":id": query.after.map(|after| after.id.to_string()).unwrap_or_default(),
            ":providers": query.providers.as_ref().map(list),
            ":kinds": list(&query.kinds()),
            ":cwds": query.cwds.as_ref().map(list),
            ":only": query.only.as_deref().map(ids),
            ":excluded": ids(&query.excluded),
            ":search": query.search.as_ref().filter(|term| !term.is_empty()),
            ":limit": i64::try_from(limit).unwrap_or(i64::MAX),
        },
        |row| {
            let seen = Seen {
                path: row.get(0)?,
                mtime: row.get(14)?,
                size: row.get(15)?,
                state: State::Listed as i64,
            };
            Ok((seen, summary(home, row)?))
        },
    )?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The column a list is ordered by.
fn key_column(query: &Query) -> &'static str {
    match query.by_change() {
        true => "updated_at",
        false => "created_at",
    }
}
