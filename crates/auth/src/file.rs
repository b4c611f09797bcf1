//! `auth.json`: the stored login. It is there whole or not at all, only its owner can read it, and two
//! programs that change it do so one after the other.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use quipu_disk::Target;

use crate::record::Record;

/// A file with a login is small; whatever is larger is something else.
const MAX_BYTES: u64 = 1024 * 1024;
/// How often a lock that another process holds is tried again.
const TRY_AGAIN: Duration = Duration::from_millis(50);
/// How long another process may take for a refresh: longer than its request may.
const PATIENCE: Duration = Duration::from_secs(45);

/// The place of the stored login.
#[derive(Debug, Clone)]
pub(crate) struct AuthFile(PathBuf);

impl AuthFile {
    pub(crate) fn new(home: &Path) -> Self {
        Self::at(home.join("auth.json"))
    }

    /// Another file of the same kind.
    pub(crate) fn at(path: PathBuf) -> Self {
        Self(path)
    }

    /// Makes an empty file, unless there is one, to have something to lock.
    pub(crate) fn create(&self) -> io::Result<()> {
        if self.0.exists() {
            return Ok(());
        }
        Target::lock(&self.0)?.replace_secret(&[])
    }

    /// What is stored. A file that cannot be used holds nothing.
    pub(crate) fn read(&self) -> Option<Record> {
        let text = quipu_disk::read_text(&self.0, MAX_BYTES).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Stores a login over whatever is there.
    pub(crate) fn write(&self, record: &Record) -> io::Result<()> {
        put(&Target::lock(&self.0)?, record)
    }

    /// Stores `new` unless something else than `old` is there by now; says whether it did.
    pub(crate) fn replace(&self, old: &Record, new: &Record) -> io::Result<bool> {
        let target = Target::lock(&self.0)?;
        if self.read().as_ref() != Some(old) {
            return Ok(false);
        }
        put(&target, new)?;
        Ok(true)
    }

    /// Forgets the stored login; says whether there was a file.
    pub(crate) fn remove(&self) -> io::Result<bool> {
        match fs::remove_file(&self.0) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Waits until no other process refreshes the stored login, and keeps others from it until the lock is
    /// dropped. Nothing if there is no file to lock, or others hold it for too long.
    pub(crate) async fn lock(&self) -> Option<RefreshLock> {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            let file = quipu_disk::open(&self.0).ok()?;
            match try_lock(&file) {
                // A refresh puts a new file in place, and the lock of the old one is worth nothing then.
                Ok(()) if is_at(&file, &self.0) => return Some(RefreshLock { _file: file }),
                Ok(()) => continue,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => {
                    tracing::warn!(%error, "the stored login cannot be locked");
                    return Some(RefreshLock { _file: file });
                }
            }
            if tokio::time::Instant::now() >= deadline {
                return None;
            }
            tokio::time::sleep(TRY_AGAIN).await;
        }
    }
}

/// While this lives, no other process refreshes.
pub(crate) struct RefreshLock {
    _file: File,
}

fn put(target: &Target, record: &Record) -> io::Result<()> {
    target.replace_secret(&serde_json::to_vec_pretty(record)?)
}

#[cfg(unix)]
fn try_lock(file: &File) -> io::Result<()> {
    let operation = rustix::fs::FlockOperation::NonBlockingLockExclusive;
    Ok(rustix::fs::flock(file, operation)?)
}

#[cfg(not(unix))]
fn try_lock(_: &File) -> io::Result<()> {
    Ok(())
}

/// Whether this file is still the one at the path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    match (file.metadata(), fs::metadata(path)) {
        (Ok(ours), Ok(theirs)) => identity(ours) == identity(theirs),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}
