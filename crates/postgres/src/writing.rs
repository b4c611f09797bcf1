//! Writes rollouts: a batch of lines is one statement, which counts as a whole or not at all.
//!
//! The statement counts only if the writer still has its lease and the rollout is as long as the writer knows. If its
//! answer is lost, it is sent again; then the rollout is longer, and has exactly these bytes at this place.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quipu_journal::backend::last_ordinal;
use quipu_journal::backend::{
    Expect, Listing, RolloutName, RolloutSink, RolloutSource, runs_after,
};
use quipu_journal::{Error, Result};
use uuid::Uuid;

use crate::database::{Database, Params, params};
use crate::lease::{HELD, Leases};
use crate::reading::Source;
use crate::{Postgres, text};

/// The longest chunk; longer batches are several.
pub(crate) const CHUNK: usize = 256 << 10;

const NOW: &str = "(extract(epoch FROM clock_timestamp()) * 1000000000)::bigint";

const CHUNKS: &str = "unnest($4::bigint[], $5::bytea[]) AS piece (at, bytes)";

const OPEN: &str = "SELECT id, length, state,
        (SELECT get_byte(bytes, octet_length(bytes) - 1) FROM quipu.chunks
         WHERE rollout = r.id ORDER BY at DESC LIMIT 1)
    FROM quipu.rollouts r WHERE path = $1";

/// What is there after a statement that did not count: the length, the fence, and how many chunks are ours.
const OUTCOME: &str = "SELECT r.id, r.length,
        (SELECT fence FROM quipu.leases WHERE thread = r.thread),
        (SELECT count(*) FROM quipu.chunks c
         JOIN unnest($2::bigint[], $3::bytea[]) AS piece (at, bytes) ON c.at = piece.at AND c.bytes = piece.bytes
         WHERE c.rollout = r.id)
    FROM quipu.rollouts r WHERE ($1 = r.id OR $4 = r.path)";

/// A rollout that lines are added to.
pub(crate) struct Sink {
    database: Arc<Database>,
    leases: Arc<Leases>,
    thread: Uuid,
    path: PathBuf,
    /// None if the path is outside the home.
    relative: Option<String>,
    expect: Expect,
    open: Option<Open>,
    /// A batch that may have counted although its answer was lost.
    unsure: Option<Vec<u8>>,
}

/// What is known of a rollout that only this process writes to.
#[derive(Debug, Clone, Copy)]
struct Open {
    rollout: i64,
    len: u64,
    ends_in_newline: bool,
    is_listed: bool,
    /// The numbers of its lines were looked at, or are all from here.
    is_numbered: bool,
}

/// Bytes cut into chunks, and where they go.
#[derive(Clone)]
struct Pieces {
    places: Vec<i64>,
    bytes: Vec<Vec<u8>>,
}

impl Pieces {
    fn of(bytes: &[u8], at: u64) -> Self {
        let places = (at..).step_by(CHUNK).map(|place| place as i64);
        let bytes: Vec<_> = bytes.chunks(CHUNK).map(<[u8]>::to_vec).collect();
        Self {
            places: places.take(bytes.len()).collect(),
            bytes,
        }
    }
}

impl Postgres {
    pub(crate) fn sink(&self, thread: Uuid, path: PathBuf, expect: Expect) -> Sink {
        Sink {
            database: Arc::clone(&self.database),
            leases: Arc::clone(&self.leases),
            thread,
            relative: self.relative(&path).map(str::to_owned),
            path,
            expect,
            open: None,
            unsure: None,
        }
    }
}

impl Sink {
    fn fence(&self) -> Result<i64> {
        self.leases
            .fence(self.thread)
            .ok_or(Error::LostLease(self.thread))
    }

    fn relative(&self) -> Result<&str> {
        self.relative.as_deref().ok_or_else(|| {
            let path = self.path.display();
            Error::Database(format!(
                "`{path}` is outside the home, so not in the database"
            ))
        })
    }

    fn vanished(&self) -> Error {
        Error::Vanished {
            path: self.path.clone(),
        }
    }

    fn opened(&mut self) -> Result<Open> {
        if let Some(open) = self.open {
            return Ok(open);
        }
        let relative = self.relative()?.to_owned();
        let row = self.database.query_one(OPEN, params![relative])?;
        let row = row.ok_or_else(|| self.vanished())?;
        let last: Option<i32> = row.get(3);
        let open = Open {
            rollout: row.get(0),
            len: row.get::<_, i64>(1) as u64,
            is_listed: row.get::<_, i16>(2) != SILENT,
            ends_in_newline: last.is_none_or(|last| last == i32::from(b'\n')),
            is_numbered: false,
        };
        self.open = Some(open);
        Ok(open)
    }

    fn write(&mut self, lines: &[u8]) -> Result<()> {
        let written = match self.expect {
            Expect::Absent => self.create(lines),
            Expect::Present | Expect::Either => self.add(lines),
        };
        if let Err(Error::Database(_)) = &written {
            self.unsure = Some(lines.to_vec());
        }
        written
    }

    fn create(&mut self, lines: &[u8]) -> Result<()> {
        let relative = self.relative()?.to_owned();
        let fence = self.fence()?;
        let pieces = Pieces::of(lines, 0);
        let name = RolloutName::of(&self.path);
        let listing =
            Listing::read(lines, name).map_err(|it| Error::io("write", &self.path, it))?;
        let is_listed = listing.preview.is_some();
        let mut params = params![self.thread, fence, lines.len() as i64];
        params.extend(params![
            pieces.places.clone(),
            pieces.bytes.clone(),
            relative
        ]);
        params.extend(listing_params(&listing));
        let running = runs_after(lines).unwrap_or(false);
        let sql = format!(
            "WITH {HELD}, made AS (
                 INSERT INTO quipu.rollouts (thread, segment, archived, length, updated_at, modified, path,
                     running, {LISTED})
                 SELECT $1::uuid, $1::uuid, false, $3::bigint, {NOW} / 1000000000, {NOW}, $6::text, {running}, {LISTED_VALUES}
                 FROM held
                 ON CONFLICT (path) DO NOTHING RETURNING id
             ), added AS (
                 INSERT INTO quipu.chunks SELECT made.id, piece.at, piece.bytes FROM made, {CHUNKS})
             SELECT id FROM made"
        );
        let made = self.database.query(sql, params)?;
        let rollout = match made.first() {
            Some(row) => row.get(0),
            None => self.outcome(None, fence, lines.len() as u64, pieces)?,
        };
        self.expect = Expect::Present;
        self.open = Some(Open {
            rollout,
            len: lines.len() as u64,
            ends_in_newline: true,
            is_listed,
            is_numbered: true,
        });
        Ok(())
    }

    fn add(&mut self, lines: &[u8]) -> Result<()> {
        let open = self.opened()?;
        let fence = self.fence()?;
        let completed;
        let lines = match open.ends_in_newline {
            true => lines,
            // A tail that somebody left without its newline costs its own line and not ours.
            false => {
                completed = [b"\n", lines].concat();
                &completed
            }
        };
        let pieces = Pieces::of(lines, open.len);
        let mut preview = None;
        if !open.is_listed {
            let read = Listing::read(lines, None);
            preview = read
                .map_err(|it| Error::io("write", &self.path, it))?
                .preview;
        }
        let is_listed = open.is_listed || preview.is_some();
        let len = open.len + lines.len() as u64;
        let mut params = params![self.thread, fence, open.rollout];
        params.extend(params![pieces.places.clone(), pieces.bytes.clone()]);
        params.extend(params![open.len as i64, len as i64]);
        let listed = match preview {
            None => "",
            Some(preview) => {
                params.extend(params![text(&preview)]);
                ", preview = $8, state = 1"
            }
        };
        let running = match runs_after(lines) {
            None => "",
            Some(true) => ", running = true",
            Some(false) => ", running = false",
        };
        let sql = format!(
            "WITH {HELD}, grown AS (
                 UPDATE quipu.rollouts SET length = $7, updated_at = {NOW} / 1000000000, modified = {NOW}{listed}{running}
                 WHERE id = $3 AND length = $6 AND EXISTS (SELECT FROM held) RETURNING id)
             INSERT INTO quipu.chunks SELECT grown.id, piece.at, piece.bytes FROM grown, {CHUNKS} RETURNING 1"
        );
        if self.database.query(sql, params)?.is_empty() {
            self.outcome(Some(open.rollout), fence, len, pieces)?;
        }
        self.open = Some(Open {
            len,
            ends_in_newline: true,
            is_listed,
            ..open
        });
        Ok(())
    }

    /// Finds out why a statement did not count. It is well if an earlier one did, whose answer was lost.
    fn outcome(
        &mut self,
        rollout: Option<i64>,
        fence: i64,
        len: u64,
        pieces: Pieces,
    ) -> Result<i64> {
        let count = pieces.places.len() as i64;
        let path = self.relative()?.to_owned();
        let path = rollout.is_none().then_some(path);
        let params = params![rollout, pieces.places, pieces.bytes, path];
        let row = self.database.query_one(OUTCOME, params)?;
        let held = self.leases.fence(self.thread);
        let Some(row) = row else {
            return Err(match rollout {
                Some(_) => self.vanished(),
                None => Error::LostLease(self.thread),
            });
        };
        let (id, found, current): (i64, i64, Option<i64>) = (row.get(0), row.get(1), row.get(2));
        if found as u64 >= len && row.get::<_, i64>(3) == count {
            return Ok(id);
        }
        if current != Some(fence) || held != Some(fence) {
            return Err(Error::LostLease(self.thread));
        }
        if rollout.is_none() {
            return Err(Error::Exists {
                path: self.path.clone(),
            });
        }
        self.open = None;
        let path = self.path.display();
        Err(Error::Database(format!(
            "`{path}` was changed by another program; try again"
        )))
    }
}

impl RolloutSink for Sink {
    fn path(&self) -> &Path {
        &self.path
    }

    fn exists(&self) -> bool {
        self.expect == Expect::Present
    }

    fn append(&mut self, lines: &[u8]) -> Result<()> {
        let mut lines = lines;
        // Whether the last batch counted is not known, so it is sent again as it was before anything else is. The
        // caller got an error for it, and has it at the beginning of this one.
        if let Some(unsure) = self.unsure.take() {
            self.write(&unsure)?;
            lines = lines.strip_prefix(&unsure[..]).unwrap_or(lines);
        }
        match lines.is_empty() {
            true => Ok(()),
            false => self.write(lines),
        }
    }

    fn next_ordinal(&mut self, first: u64) -> Result<u64> {
        if self.expect == Expect::Absent {
            return Ok(first);
        }
        let open = self.opened()?;
        if open.is_numbered {
            return Ok(first);
        }
        let source = Source::new(Arc::clone(&self.database), open.rollout);
        let last = last_ordinal(&source as &dyn RolloutSource, open.len);
        let last = last.map_err(|it| Error::io("read", &self.path, it))?;
        self.open = Some(Open {
            is_numbered: true,
            ..open
        });
        Ok(last.map_or(first, |last| first.max(last + 1)))
    }

    /// Every batch is on disk when it is reported as added.
    fn sync(&mut self) -> Result<()> {
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        self.open = None;
        Ok(())
    }
}

impl fmt::Debug for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sink")
            .field("path", &self.path)
            .field("expect", &self.expect)
            .field("open", &self.open)
            .finish_non_exhaustive()
    }
}

/// The user has said nothing in it so far, so it is not listed.
const SILENT: i16 = 2;
/// A newer segment of its thread has taken its place.
pub(crate) const SUPERSEDED: i16 = 3;

/// The columns that a [`Listing`] fills, as values from `$7` on.
pub(crate) const LISTED: &str =
    "state, created_at, kind, source, provider, cwd, preview, version, nickname, role, git";
pub(crate) const LISTED_VALUES: &str =
    "$7::smallint, coalesce($8::bigint, extract(epoch FROM now())::bigint), $9::text,
    $10::text, $11::text, $12::text, $13::text, $14::text, $15::text, $16::text, $17::text";

pub(crate) fn listing_params(listing: &Listing) -> Params {
    let optional = |value: &Option<String>| value.as_deref().map(text);
    let state: i16 = match listing.preview {
        Some(_) => 1,
        None => SILENT,
    };
    params![
        state,
        listing.created_at,
        text(&listing.kind),
        text(&listing.source),
        optional(&listing.provider),
        text(&listing.cwd),
        text(listing.preview.as_deref().unwrap_or_default()),
        text(&listing.version),
        optional(&listing.nickname),
        optional(&listing.role),
        optional(&listing.git),
    ]
}
