//! Writes the rollout of one thread.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use uuid::Uuid;

use crate::append::AppendFile;
use crate::error::{Error, Result};
use crate::record::Record;
use crate::touched::Touched;

/// How much may wait to be written before no more is taken.
const MAX_PENDING: usize = 64 << 20;

/// The open rollout of one thread.
///
/// [`append`](Log::append) only collects records in memory; [`flush`](Log::flush) hands them to the
/// system in one write, after which they survive the death of this process; [`sync`](Log::sync)
/// makes them survive the death of the machine. The file of a new thread appears with the first
/// flush.
///
/// A failed flush leaves nothing half-written and loses nothing: the records wait for the next one.
///
/// Two processes may hold a log of the same thread. Their batches end up whole, one after the
/// other, in the order of their flushes, and a warning is logged; the turns of both are in the file
/// and are read back, with items that name no turn put into the turn begun last.
#[derive(Debug)]
pub struct Log {
    id: Uuid,
    file: AppendFile,
    pending: Vec<u8>,
    touched: Arc<Touched>,
}

impl Log {
    pub(crate) fn new(id: Uuid, file: AppendFile, touched: Arc<Touched>) -> Self {
        Self {
            id,
            file,
            pending: Vec::new(),
            touched,
        }
    }

    /// The thread.
    pub fn id(&self) -> Uuid {
        self.id
    }

    /// Where the rollout is, or will be.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Whether the rollout is on disk.
    pub fn is_materialized(&self) -> bool {
        self.file.exists()
    }

    /// Collects records, all or none of them.
    pub fn append(&mut self, records: &[Record]) -> Result<()> {
        let before = self.pending.len();
        if before > MAX_PENDING {
            return Err(Error::Backlog {
                path: self.path().to_owned(),
                pending: before,
            });
        }
        let now = SystemTime::now();
        for record in records {
            if let Err(error) = record.encode(now, &mut self.pending) {
                self.pending.truncate(before);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Hands the collected records to the system.
    pub fn flush(&mut self) -> Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        self.file.append(&self.pending)?;
        // What a large batch took is given back; small ones reuse it.
        self.pending.clear();
        self.pending.shrink_to(64 << 10);
        self.touched.add(self.file.path());
        Ok(())
    }

    /// Flushes, and waits until the records are on disk.
    pub fn sync(&mut self) -> Result<()> {
        self.flush()?;
        self.file.sync()
    }

    /// Syncs and gives the file descriptor back. The log stays usable; the next flush opens the
    /// file again.
    pub fn rest(&mut self) -> Result<()> {
        if self.is_materialized() {
            self.flush()?;
        }
        self.file.close()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if self.is_materialized()
            && let Err(error) = self.flush()
        {
            tracing::error!(thread = %self.id, %error, "records of a closed thread are lost");
        }
    }
}
