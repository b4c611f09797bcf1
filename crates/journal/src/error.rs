//! Everything that can go wrong with threads at rest, in one closed set: callers decide by variant
//! what a client reads and whether trying again makes sense.

use std::io;
use std::path::{Path, PathBuf};

use uuid::Uuid;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation on stored threads failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The disk or the quota is used up. What was being written is kept in memory and is written
    /// by the next flush that finds space.
    #[error("no space left to write `{}`; free some and try again", path.display())]
    DiskFull {
        /// The file that could not grow.
        path: PathBuf,
    },
    /// The home, or the file in it, may not be written.
    #[error("`{}` cannot be written: {source}", path.display())]
    ReadOnly {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Any other failure of the file system.
    #[error("cannot {action} `{}`: {source}", path.display())]
    Io {
        /// What was tried, as a verb phrase.
        action: &'static str,
        /// On which file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The rollout was deleted under an open log; writing on would lose the records silently.
    #[error("`{}` was deleted while its thread was open", path.display())]
    Vanished {
        /// Where the rollout was.
        path: PathBuf,
    },
    /// A rollout is already where this one should go.
    #[error("`{}` already exists", path.display())]
    Exists {
        /// The place that is taken.
        path: PathBuf,
    },
    /// The file holds nothing.
    #[error("empty session file")]
    Empty,
    /// Nothing readable in the file says which thread it is.
    #[error("failed to parse thread ID from rollout file")]
    NoSessionMeta,
    /// A record is larger than any reader accepts.
    #[error("a record of {len} bytes is over the limit of {max}")]
    RecordTooLarge {
        /// Its length.
        len: usize,
        /// The limit.
        max: usize,
    },
    /// Too much waits to be written, because the disk has refused it for long.
    #[error("{pending} bytes wait to be written to `{}`; no more is taken", path.display())]
    Backlog {
        /// The file that refuses.
        path: PathBuf,
        /// How much waits.
        pending: usize,
    },
    /// A record could not be put into JSON.
    #[error("cannot encode a record: {0}")]
    Encode(serde_json::Error),
    /// What is kept beside rollouts is not what it should be.
    #[error("what is stored in `{0}` cannot be read: {1}")]
    Kept(&'static str, serde_json::Error),
    /// A thread has had all numbers for its events.
    #[error("there are no more epochs for numbered events")]
    NoEpochs,
    /// The cursor of a list request was not made by this program or the official one.
    #[error("invalid cursor: {0}")]
    InvalidCursor(String),
    /// No live rollout has this id.
    #[error("no rollout found for thread id {0}")]
    NotFound(Uuid),
    /// No archived rollout has this id.
    #[error("no archived rollout found for thread id {0}")]
    NotArchived(Uuid),
    /// Another process writes to this thread.
    #[error("thread {0} already has an active writer")]
    ActiveWriter(Uuid),
    /// The right to write to this thread went to another process, which goes on with it.
    #[error("thread {0} was taken over by another node; nothing more can be written to it here")]
    LostLease(Uuid),
    /// The database failed, or could not be reached for too long.
    #[error("{0}")]
    Database(String),
    /// The beginning of a thread's history cannot be read where the thread says it is.
    #[error("its history begins in the rollout {id}, which {why}")]
    Base {
        /// The other rollout.
        id: Uuid,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The index failed even after it was rebuilt in memory.
    #[error("the thread index failed: {0}")]
    Index(#[from] rusqlite::Error),
}

impl Error {
    /// Sorts a failure of the file system into the variants callers can act on.
    pub fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path },
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                Self::ReadOnly { path, source }
            }
            _ => Self::Io {
                action,
                path,
                source,
            },
        }
    }

    /// The bare reason, without the path, for messages that name the path themselves.
    pub fn reason(&self) -> String {
        match self {
            Self::Io { source, .. } | Self::ReadOnly { source, .. } => source.to_string(),
            other => other.to_string(),
        }
    }
}
