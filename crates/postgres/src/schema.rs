//! The tables, how they came to be, and whether all is well with them.

use quipu_journal::{Error, Result};

use crate::Postgres;
use crate::database::{Schema, params};

/// The version of the tables that this program works with.
pub(crate) const CURRENT: i32 = 2;

/// Run on every new connection: what is reported as stored must be on disk, whatever the server's default is.
pub(crate) const DURABLE: &str = "SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') = 'off'";

pub(crate) const VERSION: &str = "SELECT max(version) FROM quipu.migrations";

/// The oldest program that can work with tables that are newer than this one.
pub(crate) const OLDEST: &str =
    "SELECT max(coalesce(oldest, version)) FROM quipu.migrations WHERE version > $1";

/// What leads from one version to the next, in order.
const MIGRATIONS: [&str; CURRENT as usize] = ["
    CREATE TABLE quipu.rollouts (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        path text NOT NULL UNIQUE,      -- relative to the home
        thread uuid NOT NULL,
        segment uuid NOT NULL,          -- what other rollouts call this one
        archived boolean NOT NULL,
        state smallint NOT NULL,        -- 1 listed, 2 nothing was said so far, 3 superseded by a newer segment
        length bigint NOT NULL,
        created_at bigint NOT NULL,     -- seconds since the epoch
        updated_at bigint NOT NULL,
        modified bigint NOT NULL,       -- nanoseconds since the epoch
        kind text NOT NULL,
        source text NOT NULL,
        provider text,
        cwd text NOT NULL,
        preview text NOT NULL,
        version text NOT NULL,
        nickname text,
        role text,
        git text
    );
    -- A list of one kind, or of one directory, is the beginning of an index.
    CREATE INDEX rollouts_kind_created ON quipu.rollouts (archived, kind, created_at, thread) WHERE state = 1;
    CREATE INDEX rollouts_kind_updated ON quipu.rollouts (archived, kind, updated_at, thread) WHERE state = 1;
    CREATE INDEX rollouts_cwd_created ON quipu.rollouts (archived, md5(cwd), created_at, thread) WHERE state = 1;
    CREATE INDEX rollouts_cwd_updated ON quipu.rollouts (archived, md5(cwd), updated_at, thread) WHERE state = 1;
    CREATE INDEX rollouts_thread ON quipu.rollouts (thread);
    CREATE INDEX rollouts_segment ON quipu.rollouts (segment);
    CREATE TABLE quipu.chunks (
        rollout bigint NOT NULL,
        at bigint NOT NULL,
        bytes bytea NOT NULL,
        PRIMARY KEY (rollout, at)
    );
    -- What users and clients said about threads, besides their rollouts.
    CREATE TABLE quipu.labels (
        thread uuid PRIMARY KEY,
        name text,
        name_updated timestamptz,
        git text,
        git_updated timestamptz
    );
    -- What threads keep beside their rollouts, as JSON.
    CREATE TABLE quipu.kept (
        thread uuid NOT NULL,
        name text NOT NULL,
        value text NOT NULL,
        PRIMARY KEY (thread, name)
    );
    -- The numbered events of threads: the epoch of the last load, and where the text begins and ends.
    CREATE TABLE quipu.events (
        thread uuid PRIMARY KEY,
        epoch bigint NOT NULL,
        start bigint NOT NULL DEFAULT 0,
        till bigint NOT NULL DEFAULT 0
    );
    CREATE TABLE quipu.event_chunks (
        thread uuid NOT NULL,
        at bigint NOT NULL,
        bytes bytea NOT NULL,
        PRIMARY KEY (thread, at)
    );
    -- Requests that act once, by the keys of clients.
    CREATE TABLE quipu.requests (
        key bytea PRIMARY KEY,
        digest text NOT NULL,
        made text NOT NULL,             -- the id of what it makes
        done boolean NOT NULL,
        at bigint NOT NULL              -- seconds since the epoch
    );
    CREATE INDEX requests_at ON quipu.requests (at);
    -- What answers of models cost, and its sums by day: of each directory, by its digest, and of all.
    CREATE TABLE quipu.usage (
        id uuid PRIMARY KEY,
        day date NOT NULL,
        thread text NOT NULL,
        tokens bigint NOT NULL,
        dollars float8 NOT NULL,
        seconds float8 NOT NULL,
        entry text NOT NULL
    );
    CREATE INDEX usage_day ON quipu.usage (day, id);
    CREATE INDEX usage_thread ON quipu.usage (thread);
    CREATE TABLE quipu.usage_totals (
        day date NOT NULL,
        directory text NOT NULL,
        part smallint NOT NULL,
        tokens bigint NOT NULL,
        dollars float8 NOT NULL,
        seconds float8 NOT NULL,
        PRIMARY KEY (day, directory, part)
    );
    -- The processes that work on the database. One that has not renewed itself in time is taken for dead.
    CREATE TABLE quipu.nodes (
        id uuid PRIMARY KEY,
        expires timestamptz NOT NULL,
        address text                    -- where other nodes reach it
    );
    -- Who writes to a thread. A fence is used once, and a write under an older one is refused.
    CREATE SEQUENCE quipu.fences;
    CREATE TABLE quipu.leases (
        thread uuid PRIMARY KEY,
        node uuid NOT NULL,
        fence bigint NOT NULL
    );
    DO $$ BEGIN
        CREATE EXTENSION IF NOT EXISTS pg_trgm;
        CREATE INDEX rollouts_preview ON quipu.rollouts USING gin (preview gin_trgm_ops);
    EXCEPTION WHEN OTHERS THEN
        RAISE NOTICE 'no index for searching: %', SQLERRM;
    END $$;
", "
    -- The oldest program that can work with the tables of a version; none if only its own can.
    ALTER TABLE quipu.migrations ADD COLUMN oldest integer;
    -- Whether the last turn is not recorded as ended.
    ALTER TABLE quipu.rollouts ADD COLUMN running boolean NOT NULL DEFAULT false;
    CREATE INDEX rollouts_running ON quipu.rollouts (thread) WHERE running;
"];

/// What `quipu store check` found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The version of the server.
    pub server: String,
    /// Threads that are neither archived nor superseded, with those in which nothing was said.
    pub live: i64,
    /// Archived threads.
    pub archived: i64,
    /// Bytes of all rollouts.
    pub bytes: i64,
    /// Leases that nodes hold.
    pub leases: i64,
    /// Whether searching has its index.
    pub has_search_index: bool,
    /// Rollouts whose chunks are not what their row says.
    pub damaged: Vec<String>,
}

/// Fails unless this program can work with the tables: they are its own, or newer ones that say so, as while the servers are
/// replaced by newer ones one after the other.
pub(crate) fn require(version: Option<i32>, oldest: Option<i32>) -> Result<()> {
    let text = match version {
        Some(CURRENT) => return Ok(()),
        Some(newer) if newer > CURRENT && oldest.is_some_and(|it| it <= CURRENT) => return Ok(()),
        None => "it has no tables yet; run `quipu store migrate`".to_owned(),
        Some(older) if older < CURRENT => {
            format!(
                "its tables have version {older}, this program needs {CURRENT}; run `quipu store migrate`"
            )
        }
        Some(newer) => {
            format!(
                "its tables have version {newer}, this program only knows {CURRENT}; use a newer program"
            )
        }
    };
    Err(Error::Database(text))
}

impl Postgres {
    /// Makes the tables, or brings them to the version of this program; returns the versions before and after.
    /// Programs that do this at once wait for each other.
    pub fn migrate(&self) -> Result<(i32, i32)> {
        let mut transaction = self.database.begin(Schema::Any)?;
        transaction.execute(
            "SELECT pg_advisory_xact_lock(hashtext('quipu.migrations'));
             CREATE SCHEMA IF NOT EXISTS quipu;
             CREATE TABLE IF NOT EXISTS quipu.migrations (
                 version integer PRIMARY KEY,
                 applied timestamptz NOT NULL DEFAULT now()
             )",
        )?;
        let rows = transaction.query(VERSION, params![])?;
        let found: Option<i32> = rows.first().and_then(|row| row.get(0));
        let before = found.unwrap_or_default();
        if before > CURRENT {
            require(found, None)?;
        }
        let next = usize::try_from(before).unwrap_or_default();
        for (index, migration) in MIGRATIONS.iter().enumerate().skip(next) {
            transaction.execute(*migration)?;
            let version = i32::try_from(index + 1).unwrap_or(CURRENT);
            transaction.query(
                "INSERT INTO quipu.migrations (version) VALUES ($1)",
                params![version],
            )?;
        }
        transaction.commit()?;
        Ok((before, CURRENT))
    }

    /// Looks at everything that is stored. This reads the whole list of chunks.
    pub fn check(&self) -> Result<Report> {
        let counted = self.database.query_one(
            "SELECT current_setting('server_version'),
                 (SELECT count(*) FROM quipu.rollouts WHERE NOT archived AND state <> 3),
                 (SELECT count(*) FROM quipu.rollouts WHERE archived AND state <> 3),
                 (SELECT coalesce(sum(length), 0)::bigint FROM quipu.rollouts),
                 (SELECT count(*) FROM quipu.leases),
                 to_regclass('quipu.rollouts_preview') IS NOT NULL",
            params![],
        )?;
        let Some(row) = counted else {
            return Err(Error::Database("the database gave no answer".to_owned()));
        };
        let damaged = self.database.query(
            "SELECT path FROM quipu.rollouts r LEFT JOIN (
                 SELECT rollout, sum(octet_length(bytes)) AS stored, max(at + octet_length(bytes)) AS till
                 FROM quipu.chunks GROUP BY rollout
             ) c ON c.rollout = r.id
             WHERE r.length <> coalesce(c.stored, 0) OR r.length <> coalesce(c.till, 0) ORDER BY path",
            params![],
        )?;
        Ok(Report {
            server: row.get(0),
            live: row.get(1),
            archived: row.get(2),
            bytes: row.get(3),
            leases: row.get(4),
            has_search_index: row.get(5),
            damaged: damaged.iter().map(|row| row.get(0)).collect(),
        })
    }
}
