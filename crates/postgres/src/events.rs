//! The numbered events of threads: a row with the last epoch and two positions, and chunks of lines between them.
//!
//! Positions only grow, also when the text is replaced. A statement states the end that it expects, so one whose answer
//! was lost is sent again and finds out whether the first one counted.

use std::fmt;
use std::sync::Arc;

use quipu_journal::backend::EventStore;
use quipu_journal::{Error, Result};
use uuid::Uuid;

use crate::Postgres;
use crate::database::{Database, Params, params};
use crate::lease::{HELD, Leases};

const EXISTS: &str = "SELECT FROM quipu.events WHERE thread = $1 AND till > start";

const READ: &str = "SELECT e.till, c.bytes FROM quipu.events e
    LEFT JOIN quipu.event_chunks c ON c.thread = e.thread AND c.at >= e.start
    WHERE e.thread = $1 ORDER BY c.at";

const ENDS: &str = "SELECT start, till, (SELECT fence FROM quipu.leases WHERE thread = $1)
    FROM quipu.events WHERE thread = $1";

const NEXT_EPOCH: &str = "INSERT INTO quipu.events (thread, epoch) VALUES ($1, $2::bigint + 1)
    ON CONFLICT (thread) DO UPDATE SET epoch = greatest(events.epoch, $2) + 1 RETURNING epoch";

/// The events of one thread.
pub(crate) struct EventTable {
    database: Arc<Database>,
    leases: Arc<Leases>,
    thread: Uuid,
    /// Where the text ends, once it is known.
    till: Option<i64>,
}

impl Postgres {
    pub(crate) fn event_table(&self, thread: Uuid) -> EventTable {
        EventTable {
            database: Arc::clone(&self.database),
            leases: Arc::clone(&self.leases),
            thread,
            till: None,
        }
    }

    pub(crate) fn take_epoch(&self, thread: Uuid, used: u64) -> Result<u64> {
        let used = i64::try_from(used).map_err(|_| Error::NoEpochs)?;
        let row = self.database.query_one(NEXT_EPOCH, params![thread, used])?;
        Ok(row.map_or(0, |row| row.get::<_, i64>(0) as u64))
    }
}

impl EventTable {
    fn till(&mut self) -> Result<i64> {
        if let Some(till) = self.till {
            return Ok(till);
        }
        let row = self.database.query_one(ENDS, params![self.thread])?;
        let till = row.ok_or(Error::NotFound(self.thread))?.get(1);
        self.till = Some(till);
        Ok(till)
    }

    /// Adds a text at the end; with `anew`, nothing before it counts any more.
    fn write(&mut self, text: &[u8], anew: bool) -> Result<()> {
        // Usually the log of the thread has it already. It is given back with it, so that nothing else must be closed.
        let _lease = self.leases.take(self.thread)?;
        let fence = self.leases.fence(self.thread);
        let fence = fence.ok_or(Error::LostLease(self.thread))?;
        let from = self.till()?;
        let till = from + text.len() as i64;
        let (start, gone) = match anew {
            true => (
                "$3",
                ", gone AS (DELETE FROM quipu.event_chunks
                    WHERE thread = $1 AND at < $3 AND EXISTS (SELECT FROM moved))",
            ),
            false => ("start", ""),
        };
        let sql = format!(
            "WITH {HELD}, moved AS (
                 UPDATE quipu.events SET start = {start}, till = $4
                 WHERE thread = $1 AND till = $3 AND EXISTS (SELECT FROM held) RETURNING 1){gone}
             INSERT INTO quipu.event_chunks SELECT $1::uuid, $3::bigint, $5::bytea FROM moved
             WHERE octet_length($5) > 0 RETURNING 1"
        );
        let params: Params = params![self.thread, fence, from, till, text.to_vec()];
        // Where nothing is added, only the row says whether it counted.
        if self.database.query(sql, params)?.is_empty() {
            self.outcome(fence, till, anew.then_some(from))?;
        }
        self.till = Some(till);
        Ok(())
    }

    /// Finds out why a statement did not count. It is well if an earlier one did, whose answer was lost.
    fn outcome(&mut self, fence: i64, till: i64, start: Option<i64>) -> Result<()> {
        self.till = None;
        let row = self.database.query_one(ENDS, params![self.thread])?;
        let row = row.ok_or(Error::NotFound(self.thread))?;
        let (at, end, current): (i64, i64, Option<i64>) = (row.get(0), row.get(1), row.get(2));
        if current != Some(fence) {
            return Err(Error::LostLease(self.thread));
        }
        match end == till && start.is_none_or(|start| start == at) {
            true => Ok(()),
            false => Err(Error::Database(format!(
                "the events of thread {} were changed by another program; try again",
                self.thread
            ))),
        }
    }
}

impl EventStore for EventTable {
    fn exists(&self) -> Result<bool> {
        let row = self.database.query_one(EXISTS, params![self.thread])?;
        Ok(row.is_some())
    }

    fn read(&mut self) -> Result<Option<Vec<u8>>> {
        let rows = self.database.query(READ, params![self.thread])?;
        self.till = rows.first().map(|row| row.get(0));
        let mut text = Vec::new();
        for row in &rows {
            text.extend_from_slice(row.get::<_, Option<&[u8]>>(1).unwrap_or_default());
        }
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    fn replace(&mut self, text: &[u8]) -> Result<()> {
        self.write(text, true)
    }

    fn append(&mut self, lines: &[u8]) -> Result<()> {
        self.write(lines, false)
    }

    fn remove(&mut self) -> Result<()> {
        self.write(&[], true)
    }

    fn close(&mut self) -> Result<()> {
        self.till = None;
        Ok(())
    }
}

impl fmt::Debug for EventTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventTable")
            .field("thread", &self.thread)
            .field("till", &self.till)
            .finish_non_exhaustive()
    }
}
