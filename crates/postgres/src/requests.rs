//! Requests with keys: the first request with a key, on any node, stores what it makes.

use std::sync::atomic::{AtomicU32, Ordering};

use quipu_journal::backend::REQUEST_AGE;
use quipu_journal::{KeyedRequest, Result};
use tokio_postgres::Row;

use crate::Postgres;
use crate::database::params;

const BEGIN: &str = "WITH made AS (
        INSERT INTO quipu.requests AS known (key, digest, made, done, at) VALUES ($1, $2, $3, false, $4)
        ON CONFLICT (key) DO UPDATE
            SET digest = EXCLUDED.digest, made = EXCLUDED.made, done = false, at = EXCLUDED.at
            WHERE known.at < $5
        RETURNING digest, made, done, at)
    SELECT digest, made, done, at FROM made UNION ALL
    SELECT digest, made, done, at FROM quipu.requests WHERE key = $1 AND NOT EXISTS (SELECT FROM made)";

const DONE: &str =
    "UPDATE quipu.requests SET made = $3, done = true WHERE key = $1 AND digest = $2";

const FORGET: &str = "DELETE FROM quipu.requests WHERE key IN (
    SELECT key FROM quipu.requests WHERE at < $1 LIMIT 1000)";

/// After how many requests a node removes old ones.
const SWEEP: u32 = 500;

/// How many requests this node has begun since it removed old ones.
#[derive(Debug, Default)]
pub(crate) struct Sweep(AtomicU32);

impl Postgres {
    pub(crate) fn begin_keyed(&self, request: &KeyedRequest) -> Result<KeyedRequest> {
        let oldest = request.at.saturating_sub(REQUEST_AGE);
        if self.sweep.0.fetch_add(1, Ordering::Relaxed) % SWEEP == SWEEP - 1 {
            self.database.query(FORGET, params![oldest])?;
        }
        loop {
            let values = params![
                key(request),
                request.digest.clone(),
                request.made.clone(),
                request.at,
                oldest
            ];
            // There is none only if another node has stored one since the statement began; the next one finds it.
            if let Some(row) = self.database.query_one(BEGIN, values)? {
                return Ok(read(request.key.clone(), &row));
            }
        }
    }

    pub(crate) fn keyed_done(&self, request: &KeyedRequest) -> Result<()> {
        let values = params![key(request), request.digest.clone(), request.made.clone()];
        self.database.query(DONE, values).map(drop)
    }
}

/// Keys may have any character, also those that texts of PostgreSQL cannot have.
fn key(request: &KeyedRequest) -> Vec<u8> {
    request.key.clone().into_bytes()
}

pub(crate) fn read(key: String, row: &Row) -> KeyedRequest {
    KeyedRequest {
        key,
        digest: row.get(0),
        made: row.get(1),
        done: row.get(2),
        at: row.get(3),
    }
}
