//! Reads a rollout from its chunks, a window at a time. Chunks never change, so a window stays right.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use quipu_journal::backend::RolloutSource;
use quipu_journal::{Error, Result};
use tokio_postgres::Row;

use crate::Postgres;
use crate::database::{Database, params};
use crate::writing::CHUNK;

/// How much is read at once: at first, and after reading on for a while.
const FIRST_WINDOW: u64 = 256 << 10;
const LARGEST_WINDOW: u64 = 4 << 20;

const FIND: &str = "SELECT id FROM quipu.rollouts WHERE path = $1";
const STATE: &str = "SELECT length, modified FROM quipu.rollouts WHERE id = $1";
const READ: &str = "SELECT at, bytes FROM quipu.chunks
    WHERE rollout = $1 AND at > $2 AND at < $3 ORDER BY at";

/// A rollout that is open for reading.
pub(crate) struct Source {
    database: Arc<Database>,
    rollout: i64,
    window: Mutex<Window>,
}

/// Bytes that were read and may be needed next.
struct Window {
    start: u64,
    bytes: Vec<u8>,
    /// How much to read next time.
    next: u64,
}

impl Postgres {
    /// Whether there is a rollout of this relative path.
    pub(crate) fn is_stored(&self, relative: &str) -> Result<bool> {
        let row = self
            .database
            .query_one(FIND, params![relative.to_owned()])?;
        Ok(row.is_some())
    }

    pub(crate) fn source(&self, path: &Path) -> Result<Source> {
        // In the words of the file system, which clients know.
        let missing = || Error::io("read", path, io::Error::from_raw_os_error(2));
        let relative = self.relative(path).ok_or_else(missing)?.to_owned();
        let row = self.database.query_one(FIND, params![relative])?;
        let row = row.ok_or_else(missing)?;
        Ok(Source::new(Arc::clone(&self.database), row.get(0)))
    }
}

/// The bytes of a rollout, from its beginning.
pub(crate) struct Bytes<'a> {
    source: &'a Source,
    position: u64,
}

impl Read for Bytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read_at(buffer, self.position)?;
        self.position += count as u64;
        Ok(count)
    }
}

impl Source {
    /// Everything, from the beginning.
    pub fn bytes(&self) -> Bytes<'_> {
        Bytes {
            source: self,
            position: 0,
        }
    }

    pub fn new(database: Arc<Database>, rollout: i64) -> Self {
        let window = Mutex::new(Window {
            start: 0,
            bytes: Vec::new(),
            next: FIRST_WINDOW,
        });
        Self {
            database,
            rollout,
            window,
        }
    }

    fn state(&self) -> io::Result<Row> {
        let row = self.database.query_one(STATE, params![self.rollout]);
        let row = row.map_err(io::Error::other)?;
        row.ok_or_else(|| io::Error::from_raw_os_error(2))
    }

    /// The bytes from the chunk at `at` on.
    fn fetch(&self, at: u64, window: &mut Window) -> io::Result<()> {
        let signed = |place: u64| i64::try_from(place).unwrap_or(i64::MAX);
        // The chunk that has the place began at most so long before it.
        let from = signed(at) - CHUNK as i64;
        let params = params![self.rollout, from, signed(at + window.next)];
        let rows = self
            .database
            .query(READ, params)
            .map_err(io::Error::other)?;
        let mut bytes = Vec::new();
        let mut start = at;
        for row in rows {
            let (place, chunk): (i64, &[u8]) = (row.get(0), row.get(1));
            let place = place as u64;
            if bytes.is_empty() {
                if place + chunk.len() as u64 <= at {
                    continue;
                }
                start = place;
            }
            if place != start + bytes.len() as u64 {
                let text = format!("a part of the rollout is missing before byte {place}");
                return Err(io::Error::new(io::ErrorKind::InvalidData, text));
            }
            bytes.extend_from_slice(chunk);
        }
        if !bytes.is_empty() {
            *window = Window {
                start,
                bytes,
                next: (window.next * 2).min(LARGEST_WINDOW),
            };
        }
        Ok(())
    }
}

impl Window {
    /// Copies what there is at a place.
    fn copy(&self, buffer: &mut [u8], at: u64) -> Option<usize> {
        let skipped = usize::try_from(at.checked_sub(self.start)?).ok()?;
        let found = self.bytes.get(skipped..).filter(|it| !it.is_empty())?;
        let count = found.len().min(buffer.len());
        buffer[..count].copy_from_slice(&found[..count]);
        Some(count)
    }
}

impl RolloutSource for Source {
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        let mut window = self.window.lock();
        if let Some(count) = window.copy(buffer, at) {
            return Ok(count);
        }
        self.fetch(at, &mut window)?;
        Ok(window.copy(buffer, at).unwrap_or_default())
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.state()?.get::<_, i64>(0) as u64)
    }

    fn modified(&self) -> io::Result<SystemTime> {
        let nanos: i64 = self.state()?.get(1);
        Ok(SystemTime::UNIX_EPOCH + Duration::from_nanos(nanos.max(0) as u64))
    }
}
