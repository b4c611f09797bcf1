//! A cache of what lists show, in SQLite. Everything in it can be read again from the files of the
//! home, so whatever is wrong with it — deleted, corrupt, of another version, not writable — is
//! answered by building it again, in memory if need be.
//!
//! The index is brought up to date by the calls that read it, and only as far as their answer
//! needs; nothing runs in the background. A store has one connection behind a lock, so there is one
//! writer in a process and nobody waits for a hand-over between threads; between processes the
//! write-ahead log and SQLite's own lock see to that. Callers come from where waiting harms nobody.

mod directories;
mod list;
mod rows;
mod segments;
mod sidecars;

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use crate::error::Result;
use crate::platform;

/// The version of the schema below; another one in a file means to build it again.
const SCHEMA: i64 = 3;

/// How long to wait for another process that writes to the index.
const BUSY_PATIENCE: Duration = Duration::from_secs(5);

const TABLES: &str = "
    CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE directories (path TEXT PRIMARY KEY, mtime INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE names (id TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE git (id TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE threads (
        path TEXT PRIMARY KEY,        -- relative to the home
        directory TEXT NOT NULL,
        id TEXT NOT NULL,
        segment TEXT NOT NULL,        -- what other rollouts call this one
        archived INTEGER NOT NULL,
        state INTEGER NOT NULL,       -- see State
        created_at INTEGER NOT NULL,  -- not below the real time while the head is unread
        updated_at INTEGER NOT NULL,
        mtime INTEGER NOT NULL,
        size INTEGER NOT NULL,
        kind TEXT, source TEXT, provider TEXT, cwd TEXT, preview TEXT, version TEXT,
        nickname TEXT, role TEXT, git TEXT
    );
    CREATE INDEX by_creation ON threads (archived, state, created_at DESC, id DESC);
    CREATE INDEX by_change ON threads (archived, state, updated_at DESC, id DESC);
    CREATE INDEX by_id ON threads (id);
    CREATE INDEX by_segment ON threads (segment);
    CREATE INDEX by_directory ON threads (directory);
";

/// How much of a rollout the index knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Its name and size.
    Seen = 0,
    /// All that lists show.
    Listed = 1,
    /// That the user has said nothing in it, so that it is not listed.
    Silent = 2,
    /// That a newer rollout of its thread has taken its place; that one may begin with a part of it.
    Superseded = 3,
}

/// An open index.
pub(crate) struct Index {
    db: Connection,
    home: PathBuf,
    /// Where the last sweep for changed files ended.
    swept_to: String,
}

impl Index {
    /// Opens the index at `file` for the home, building it again if it is not usable.
    pub fn open(home: &Path, file: &Path) -> Result<Self> {
        match Self::open_at(home, file) {
            Ok(Some(index)) => return Ok(index),
            Ok(None) => tracing::info!("the thread index is of another version or home"),
            Err(error) if is_damage(&error) => {
                tracing::warn!(%error, "the thread index is damaged")
            }
            Err(error) => return Self::in_memory(home, &error),
        }
        remove(file);
        match Self::open_at(home, file) {
            Ok(Some(index)) => Ok(index),
            Ok(None) => Self::in_memory(home, &rusqlite::Error::InvalidQuery),
            Err(error) => Self::in_memory(home, &error),
        }
    }

    /// An index that lives as long as the process, because of a failure of the one on disk.
    pub fn in_memory(home: &Path, because: &rusqlite::Error) -> Result<Self> {
        tracing::warn!(error = %because, "the thread index is kept in memory");
        let db = Connection::open_in_memory()?;
        create(&db, home)?;
        Ok(Self {
            db,
            home: home.to_owned(),
            swept_to: String::new(),
        })
    }

    /// Opens the file; none if it is of another version or home.
    fn open_at(home: &Path, file: &Path) -> rusqlite::Result<Option<Self>> {
        // Opening a pipe would wait for its other end, and nothing but a file can be an index.
        let is_other = |found: std::fs::Metadata| !found.is_file();
        if file.metadata().is_ok_and(is_other) {
            return Err(rusqlite::Error::InvalidPath(file.to_owned()));
        }
        // SQLite would make the file readable by others. If this fails, so will SQLite, and say why.
        if let Some(directory) = file.parent() {
            quipu_disk::private_dirs(directory, Path::new("")).ok();
        }
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        drop(platform::private_file(&mut options).open(file));
        let mut db = Connection::open(file)?;
        db.busy_timeout(BUSY_PATIENCE)?;
        // A new file need not be on the disk before it is used: one that a power failure damages is made again.
        db.pragma_update(None, "synchronous", "off")?;
        db.pragma_update(None, "journal_mode", "wal")?;
        db.pragma_update(None, "cache_size", -1024)?;
        if version(&db)? == 0 {
            let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            if version(&transaction)? == 0 {
                create(&transaction, home)?;
            }
            transaction.commit()?;
        }
        db.pragma_update(None, "synchronous", "normal")?;
        let find = "SELECT value FROM about WHERE key = 'home'";
        let usable = version(&db)? == SCHEMA
            && db.query_row(find, [], |row| row.get::<_, String>(0))? == home.to_string_lossy();
        let index = Self {
            db,
            home: home.to_owned(),
            swept_to: String::new(),
        };
        Ok(usable.then_some(index))
    }

    /// Runs `work` in a transaction that takes the write lock first.
    fn write<T>(&mut self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        let transaction = self
            .db
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }
}

fn version(db: &Connection) -> rusqlite::Result<i64> {
    db.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn create(db: &Connection, home: &Path) -> rusqlite::Result<()> {
    db.execute_batch(TABLES)?;
    db.execute(
        "INSERT INTO about VALUES ('home', ?)",
        [home.to_string_lossy()],
    )?;
    db.pragma_update(None, "user_version", SCHEMA)
}

/// Whether the file itself is the problem, so that a new one would help.
pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    let damaged = [
        ErrorCode::DatabaseCorrupt,
        ErrorCode::NotADatabase,
        ErrorCode::Unknown,
    ];
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => damaged.contains(&failure.code),
        rusqlite::Error::SqlInputError { .. }
        | rusqlite::Error::QueryReturnedNoRows
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::FromSqlConversionFailure(..) => true,
        _ => false,
    }
}

/// Deletes the index with the files SQLite keeps beside it.
pub(crate) fn remove(file: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        let mut path = file.as_os_str().to_owned();
        path.push(suffix);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(path = %path.display(), %error, "cannot delete the old thread index");
            }
            _ => {}
        }
    }
}
