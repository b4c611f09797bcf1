//! What threads keep beside their rollouts, and what is kept for all of them, which is in the row of no thread.

use quipu_journal::{Error, Result};
use uuid::Uuid;

use crate::database::params;
use crate::{Postgres, text};

/// Keeps a value where there was none. It also counts if it is there already: then an answer was lost.
const KEEP_FIRST: &str = "INSERT INTO quipu.kept AS old (thread, name, value) VALUES ($1, $2, $3)
    ON CONFLICT (thread, name) DO UPDATE SET value = EXCLUDED.value WHERE old.value = EXCLUDED.value RETURNING 1";

const KEEP_NEXT: &str = "UPDATE quipu.kept SET value = $3
    WHERE thread = $1 AND name = $2 AND value IN ($3, $4) RETURNING 1";

impl Postgres {
    pub(crate) fn read_kept(&self, thread: Option<Uuid>, name: &str) -> Result<Option<String>> {
        let sql = "SELECT value FROM quipu.kept WHERE thread = $1 AND name = $2";
        let values = params![thread.unwrap_or_default(), name.to_owned()];
        let row = self.database.query_one(sql, values)?;
        Ok(row.map(|row| row.get(0)))
    }

    /// What these threads keep under a name, in one query.
    pub(crate) fn read_kept_beside(
        &self,
        threads: &[Uuid],
        name: &str,
    ) -> Result<Vec<(Uuid, String)>> {
        let sql = "SELECT thread, value FROM quipu.kept WHERE thread = ANY($1) AND name = $2";
        let values = params![threads.to_vec(), name.to_owned()];
        let rows = self.database.query(sql, values)?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    /// Replaces what a thread keeps, unless another node that is alive writes to the thread.
    pub(crate) fn replace_kept(
        &self,
        thread: Option<Uuid>,
        name: &str,
        value: Option<&str>,
    ) -> Result<bool> {
        self.replace(thread.unwrap_or_default(), name, value, "")
    }

    /// The same without waiting for the disk: it is lost if PostgreSQL falls within a second.
    pub(crate) fn replace_kept_soon(&self, thread: Uuid, name: &str, value: &str) -> Result<()> {
        let soon = ", soon AS (SELECT set_config('synchronous_commit', 'off', true) AS set)";
        self.replace(thread, name, Some(value), soon).map(drop)
    }

    fn replace(&self, thread: Uuid, name: &str, value: Option<&str>, soon: &str) -> Result<bool> {
        let free = "NOT EXISTS (SELECT FROM quipu.leases JOIN quipu.nodes ON nodes.id = leases.node
            WHERE leases.thread = $1 AND leases.node <> $3 AND nodes.expires > now())";
        let mut params = params![thread, name.to_owned(), self.leases.node()];
        let change = match value {
            None => format!(
                "DELETE FROM quipu.kept WHERE thread = $1 AND name = $2 AND {free} RETURNING 1"
            ),
            Some(value) => {
                params.extend(params![text(value)]);
                format!(
                    "INSERT INTO quipu.kept (thread, name, value) SELECT $1::uuid, $2::text, $4::text WHERE {free}
                     ON CONFLICT (thread, name) DO UPDATE SET value = EXCLUDED.value RETURNING 1"
                )
            }
        };
        let is_soon = match soon.is_empty() {
            true => "NULL",
            // What nothing refers to is not run.
            false => "(SELECT set FROM soon)",
        };
        let sql = format!(
            "WITH changed AS ({change}){soon} SELECT (SELECT count(*) FROM changed), {free},
                 EXISTS (SELECT FROM quipu.kept WHERE thread = $1 AND name = $2), {is_soon}"
        );
        let rows = self.database.query(sql, params)?;
        let Some(row) = rows.first() else {
            return Ok(false);
        };
        match row.get(1) {
            true => Ok(row.get(2)),
            false => Err(Error::ActiveWriter(thread)),
        }
    }

    /// Replaces what is kept if it is `old`.
    pub(crate) fn replace_kept_if(
        &self,
        thread: Option<Uuid>,
        name: &str,
        old: Option<&str>,
        value: &str,
    ) -> Result<bool> {
        let mut params = params![thread.unwrap_or_default(), name.to_owned(), text(value)];
        let sql = match old {
            None => KEEP_FIRST,
            Some(old) => {
                params.extend(params![old.to_owned()]);
                KEEP_NEXT
            }
        };
        Ok(self.database.query_one(sql, params)?.is_some())
    }

    pub(crate) fn threads_that_keep(&self, name: &str) -> Result<Vec<Uuid>> {
        let sql = "SELECT thread FROM quipu.kept WHERE name = $1 AND thread <> $2";
        let values = params![name.to_owned(), Uuid::nil()];
        let rows = self.database.query(sql, values)?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }
}
