//! Writes the rollout of one thread.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use quipu_wire::Turn;
use uuid::Uuid;

use crate::backend::{Backend, Lease, RolloutSink};
use crate::error::{Error, Result};
use crate::ordinals;
use crate::pages::Pages;
use crate::record::Record;
use crate::session::SessionMeta;

/// How much may wait to be written before no more is taken.
const MAX_PENDING: usize = 64 << 20;

/// The open rollout of one thread.
///
/// [`append`](Log::append) only collects records in memory; [`flush`](Log::flush) hands them to the
/// system in one write, after which they survive the death of this process; [`sync`](Log::sync)
/// makes them survive the death of the machine. The file of a new thread appears with the first
/// flush.
///
/// A failed flush leaves nothing half-written and loses nothing: the records wait for the next one. For a turn that
/// ends while the disk is full, [`reserve`](Log::reserve) and [`give_up`](Log::give_up) store at least how it ended.
///
/// A thread has one writer among all processes that share its home, from its first flush or from being
/// resumed until its log is closed. The official program of the older generation does not keep to that: its
/// lines end up whole between ours, and items that name no turn are put into the turn begun last.
pub struct Log {
    id: Uuid,
    rollout: Box<dyn RolloutSink>,
    pending: Vec<u8>,
    /// The lines among them that say how turns began and ended, in short.
    essence: Vec<u8>,
    backend: Arc<dyn Backend>,
    /// The right to write; none before the first flush and after the end.
    writer: Option<Box<dyn Lease>>,
    /// For a rollout in the paginated form.
    pages: Option<Pages>,
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log")
            .field("id", &self.id)
            .field("rollout", &self.rollout)
            .field("pending", &self.pending.len())
            .finish_non_exhaustive()
    }
}

impl Log {
    pub(crate) fn new(
        meta: &SessionMeta,
        rollout: Box<dyn RolloutSink>,
        backend: Arc<dyn Backend>,
    ) -> Self {
        Self {
            id: meta.id,
            rollout,
            pending: Vec::new(),
            essence: Vec::new(),
            backend,
            writer: None,
            pages: Pages::of(meta),
        }
    }

    /// Becomes the writer of the thread, unless another process is.
    pub fn take_writer(&mut self) -> Result<()> {
        if self.writer.is_none() {
            self.writer = Some(self.backend.lease(self.id)?);
        }
        Ok(())
    }

    /// Stores turns of a paginated rollout again that another program stored in the old form only: without
    /// this, the programs that read the new form would not show them.
    pub(crate) fn add_pages(&mut self, turns: &[Turn], unpaged: &[String]) -> Result<()> {
        let Some(pages) = &self.pages else {
            return Ok(());
        };
        let turns = turns.iter().filter(|turn| unpaged.contains(&turn.id));
        let records: Vec<Record> = turns.flat_map(|turn| pages.of_turn(turn)).collect();
        self.collect(&records)
    }

    /// The thread.
    pub fn id(&self) -> Uuid {
        self.id
    }

    /// Where the rollout is, or will be.
    pub fn path(&self) -> &Path {
        self.rollout.path()
    }

    /// Whether the rollout is on disk.
    pub fn is_materialized(&self) -> bool {
        self.rollout.exists()
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
        match &mut self.pages {
            Some(pages) => {
                let both = pages.both_forms(records);
                self.collect(&both)
            }
            None => self.collect(records),
        }
    }

    fn collect(&mut self, records: &[Record]) -> Result<()> {
        let before = (self.pending.len(), self.essence.len());
        let now = SystemTime::now();
        for record in records {
            let essence = record.essence();
            let encoded = record.encode(now, &mut self.pending).and_then(|()| {
                essence.map_or(Ok(()), |essence| essence.encode(now, &mut self.essence))
            });
            if let Err(error) = encoded {
                self.pending.truncate(before.0);
                self.essence.truncate(before.1);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Keeps room on the disk for the end of a turn from now on, until the log rests or is closed. Fails if there is
    /// none; then no turn should begin. File systems that cannot keep room are used without.
    pub fn reserve(&mut self) -> Result<()> {
        self.rollout.keep_reserve();
        self.flush()?;
        self.rollout.ensure_reserve()
    }

    /// Whether [`reserve`](Log::reserve) has nothing to do.
    pub fn has_reserve(&self) -> bool {
        self.pending.is_empty() && self.rollout.has_reserve()
    }

    /// Stores of the collected records only those that say how turns began and ended, in the reserved room, and
    /// drops the others.
    pub fn give_up(&mut self) -> Result<()> {
        if self.essence.is_empty() {
            return self.flush();
        }
        let (taken, kept) = (self.pending.len(), self.essence.len());
        tracing::warn!(thread = %self.id, taken, kept, "records of a turn are given up");
        self.pending.clone_from(&self.essence);
        self.write(|rollout, lines| rollout.append_reserved(lines))?;
        self.rollout.sync()
    }

    /// Hands the collected records to the system.
    pub fn flush(&mut self) -> Result<()> {
        self.write(|rollout, lines| rollout.append(lines))
    }

    fn write(&mut self, append: fn(&mut dyn RolloutSink, &[u8]) -> Result<()>) -> Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        self.take_writer()?;
        match &mut self.pages {
            Some(pages) => {
                let first = self.rollout.next_ordinal(pages.next_ordinal)?;
                let (lines, next) = ordinals::number(&self.pending, first);
                append(&mut *self.rollout, &lines)?;
                pages.next_ordinal = next;
            }
            None => append(&mut *self.rollout, &self.pending)?,
        }
        self.essence.clear();
        // What a large batch took is given back; small ones reuse it.
        self.pending.clear();
        self.pending.shrink_to(64 << 10);
        Ok(())
    }

    /// Flushes, and waits until the records are on disk.
    pub fn sync(&mut self) -> Result<()> {
        self.flush()?;
        self.rollout.sync()
    }

    /// Syncs and gives the file descriptor back. The log stays usable; the next flush opens the
    /// file again.
    pub fn rest(&mut self) -> Result<()> {
        if self.is_materialized() {
            self.flush()?;
        }
        self.rollout.close()
    }

    /// Rests, and lets other processes write to the thread.
    pub fn close(&mut self) -> Result<()> {
        let rested = self.rest();
        self.writer = None;
        rested
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
