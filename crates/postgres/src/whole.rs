//! Makes whole rollouts, of forks and imports: chunk by chunk in one transaction, so that others see nothing or all.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use quipu_journal::backend::{Fill, Listing, RolloutName};
use quipu_journal::{Error, Result};
use uuid::Uuid;

use crate::Postgres;
use crate::database::{Schema, Transaction, params};
use crate::writing::{CHUNK, LISTED, LISTED_VALUES, SUPERSEDED, listing_params};

impl Postgres {
    /// Makes a rollout in one transaction.
    pub(crate) fn create_filled(&self, path: &Path, fill: &mut Fill<'_>) -> Result<()> {
        let relative = self.require_relative(path)?;
        let transaction = self.database.begin(Schema::Ours)?;
        let mut writer = WholeWriter::new(transaction, relative)?;
        fill(&mut writer).map_err(|source| writer.failure(path, source))?;
        writer.finish(path, None)
    }
}

/// Writes a new rollout chunk by chunk within a transaction.
pub(crate) struct WholeWriter<'a> {
    transaction: Transaction<'a>,
    name: Option<RolloutName>,
    rollout: i64,
    written: u64,
    pending: Vec<u8>,
    /// The beginning, which has what lists show.
    head: Vec<u8>,
    /// What the database said, where [`Write`] can only fail.
    failure: Option<Error>,
}

/// How much of a new rollout is looked at for what lists show.
const HEAD: usize = 4 << 20;

/// What an imported rollout has besides its bytes.
pub(crate) struct Origin {
    pub listing: Listing,
    pub segment: Uuid,
    pub archived: bool,
    pub is_superseded: bool,
    pub modified: SystemTime,
}

impl<'a> WholeWriter<'a> {
    pub fn new(mut transaction: Transaction<'a>, relative: &str) -> Result<Self> {
        let name = RolloutName::of(Path::new(relative));
        let thread = name.map(|name| name.id).unwrap_or_default();
        let made = transaction.query(
            "INSERT INTO quipu.rollouts (path, thread, segment, archived, state, length, created_at, updated_at,
                 modified, kind, source, cwd, preview, version)
             VALUES ($1, $2, $2, false, 2, 0, 0, 0, 0, '', '', '', '', '')
             ON CONFLICT (path) DO NOTHING RETURNING id",
            params![relative.to_owned(), thread],
        )?;
        let row = made.first().ok_or_else(|| Error::Exists {
            path: PathBuf::from(relative),
        })?;
        Ok(Self {
            name,
            rollout: row.get(0),
            transaction,
            written: 0,
            pending: Vec::new(),
            head: Vec::new(),
            failure: None,
        })
    }

    /// Why writing failed.
    pub fn failure(&mut self, path: &Path, source: io::Error) -> Error {
        let failure = self.failure.take();
        failure.unwrap_or_else(|| Error::io("create", path, source))
    }

    /// Completes the row and lets others see the rollout.
    pub fn finish(mut self, path: &Path, origin: Option<Origin>) -> Result<()> {
        if let Err(error) = self.flush() {
            return Err(self.failure(path, error));
        }
        let origin = match origin {
            Some(origin) => origin,
            None => {
                let listing = Listing::read(&self.head[..], self.name);
                let listing = listing.map_err(|it| Error::io("create", path, it))?;
                Origin {
                    segment: listing.thread,
                    listing,
                    archived: false,
                    is_superseded: false,
                    modified: SystemTime::now(),
                }
            }
        };
        let modified = origin
            .modified
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let nanos = i64::try_from(modified.as_nanos()).unwrap_or(i64::MAX);
        let mut params = params![self.rollout, self.written as i64, nanos];
        params.extend(params![
            origin.segment,
            origin.archived,
            origin.listing.thread
        ]);
        params.extend(listing_params(&origin.listing));
        if origin.is_superseded {
            params[6] = Box::new(SUPERSEDED);
        }
        let sql = format!(
            "UPDATE quipu.rollouts SET length = $2, updated_at = $3::bigint / 1000000000, modified = $3::bigint, segment = $4,
                 archived = $5, thread = $6, ({LISTED}) = ROW ({LISTED_VALUES}) WHERE id = $1"
        );
        self.transaction.query(sql, params)?;
        self.transaction.commit()
    }

    fn send(&mut self, bytes: Vec<u8>) -> io::Result<()> {
        let len = bytes.len() as u64;
        let sent = self.transaction.query(
            "INSERT INTO quipu.chunks VALUES ($1, $2, $3)",
            params![self.rollout, self.written as i64, bytes],
        );
        match sent {
            Ok(_) => {
                self.written += len;
                Ok(())
            }
            Err(error) => {
                self.failure = Some(error);
                Err(io::Error::other("the database refused it"))
            }
        }
    }
}

impl Write for WholeWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = HEAD.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        self.pending.extend_from_slice(bytes);
        while self.pending.len() >= CHUNK {
            let rest = self.pending.split_off(CHUNK);
            let chunk = std::mem::replace(&mut self.pending, rest);
            self.send(chunk)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        match std::mem::take(&mut self.pending) {
            empty if empty.is_empty() => Ok(()),
            chunk => self.send(chunk),
        }
    }
}
