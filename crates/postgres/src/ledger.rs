//! What answers of models cost, counted by all nodes together, so that a budget of a day or directory holds across them.
//!
//! Sums of a day are kept in several rows for each directory and for all, by thread, so that answers of different threads
//! do not wait for each other.

use std::collections::HashMap;
use std::io;
use std::time::Duration;

use chrono::{NaiveDate, Utc};
use quipu_journal::Result;
use quipu_spending::{Amount, Entry, Ledger};
use tokio_postgres::Row;

use crate::Postgres;
use crate::database::params;
use crate::text;

/// Counts an answer once, also if it is sent again: its id is the digest of everything that is known of it.
const ADD: &str = "WITH added AS (
        INSERT INTO quipu.usage (id, day, thread, tokens, dollars, seconds, entry)
        VALUES (md5($7)::uuid, $1::text::date, $2, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING RETURNING 1)
    INSERT INTO quipu.usage_totals AS total (day, directory, part, tokens, dollars, seconds)
    SELECT $1::text::date, directory, (hashtext($2) & 15)::smallint, $4, $5, $6
    FROM added, unnest(ARRAY['', md5($3)]) AS directory
    ON CONFLICT (day, directory, part) DO UPDATE SET tokens = total.tokens + EXCLUDED.tokens,
        dollars = total.dollars + EXCLUDED.dollars, seconds = total.seconds + EXCLUDED.seconds";

const TODAY: &str = "SELECT directory, sum(tokens)::bigint, sum(dollars), sum(seconds)
    FROM quipu.usage_totals WHERE day = $1::text::date AND directory IN ('', md5($2)) GROUP BY directory";

const THREADS: &str = "SELECT thread, sum(tokens)::bigint, sum(dollars), sum(seconds)
    FROM quipu.usage WHERE thread = ANY ($1::text[]) AND day >= $2::text::date GROUP BY thread";

const DAYS: &str = "SELECT DISTINCT day::text FROM quipu.usage_totals ORDER BY 1";

const ENTRIES: &str = "SELECT id::text, entry FROM quipu.usage
    WHERE day = $1::text::date AND id > $2::text::uuid ORDER BY id LIMIT 1000";

impl Ledger for Postgres {
    fn add(&self, entry: &Entry) -> io::Result<()> {
        let amount = entry.amount();
        let values = params![
            entry.day().to_string(),
            text(&entry.thread),
            text(&entry.cwd),
            i64::try_from(amount.tokens).unwrap_or(i64::MAX),
            amount.dollars,
            amount.time.as_secs_f64(),
            text(&serde_json::to_string(entry)?),
        ];
        self.database.query(ADD, values).map_err(io::Error::other)?;
        Ok(())
    }

    fn today(&self, directory: &str) -> (Amount, Amount) {
        let day = Utc::now().date_naive().to_string();
        let rows = self.database.query(TODAY, params![day, text(directory)]);
        let (mut all, mut there) = Default::default();
        for row in reported(rows) {
            match row.get::<_, &str>(0).is_empty() {
                true => all = amount(&row),
                false => there = amount(&row),
            }
        }
        (all, there)
    }

    fn threads(&self, ids: &[String], since: NaiveDate) -> HashMap<String, Amount> {
        let values = params![ids.to_vec(), since.to_string()];
        let rows = reported(self.database.query(THREADS, values));
        rows.iter().map(|row| (row.get(0), amount(row))).collect()
    }

    fn days(&self) -> Vec<NaiveDate> {
        let rows = reported(self.database.query(DAYS, params![]));
        let days = rows
            .iter()
            .filter_map(|row| row.get::<_, &str>(0).parse().ok());
        days.collect()
    }

    fn entries(&self, day: NaiveDate) -> Box<dyn Iterator<Item = Entry> + '_> {
        let mut after = uuid::Uuid::nil().to_string();
        let mut page = Vec::new().into_iter();
        Box::new(std::iter::from_fn(move || {
            loop {
                if let Some(entry) = page.next() {
                    return Some(entry);
                }
                let values = params![day.to_string(), after.clone()];
                let rows = reported(self.database.query(ENTRIES, values));
                after = rows.last()?.get(0);
                let read = rows.iter().map(|row| serde_json::from_str(row.get(1)));
                page = read
                    .filter_map(|it| it.ok())
                    .collect::<Vec<_>>()
                    .into_iter();
            }
        }))
    }
}

/// What cannot be read counts as nothing, and is reported.
fn reported(rows: Result<Vec<Row>>) -> Vec<Row> {
    rows.unwrap_or_else(|error| {
        tracing::warn!(%error, "usage cannot be read");
        Vec::new()
    })
}

fn amount(row: &Row) -> Amount {
    Amount {
        tokens: u64::try_from(row.get::<_, i64>(1)).unwrap_or_default(),
        dollars: row.get(2),
        time: Duration::try_from_secs_f64(row.get(3)).unwrap_or_default(),
    }
}
