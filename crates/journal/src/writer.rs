//! One writer per thread, among all programs that share the home: the one that writes to a thread holds an
//! exclusive lock on a file named after it, which is how the official program does it, too.
//!
//! Nothing here waits. A lock that somebody else has is an answer: the thread has a writer. The file is
//! removed with the lock, as the official program does; it holds a second lock while it takes and removes
//! files, so removing happens only where that one is free, and a file that was removed between being opened
//! and being locked is noticed and opened again.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use uuid::Uuid;

use crate::append::create_dirs;
use crate::error::{Error, Result};
use crate::layout::{COORDINATION, LOCKS};
use crate::platform;

/// How often a lock file may be removed under us before we give up.
const TRIES: usize = 16;

/// The locks that this process holds.
#[derive(Debug)]
pub(crate) struct Writers {
    dir: PathBuf,
    held: Mutex<HashMap<Uuid, Held>>,
}

/// A lock and how many in this process share it. A thread that is loaded again while it is being unloaded has
/// two for a moment; that only one of them writes is up to the process.
#[derive(Debug)]
struct Held {
    users: usize,
    /// None where the home cannot be written, so that nobody can write to the thread either.
    file: Option<File>,
}

/// The right to write to a thread, given back when dropped.
#[derive(Debug)]
pub(crate) struct Writer {
    id: Uuid,
    writers: Arc<Writers>,
}

impl Writers {
    pub fn new(home: &Path) -> Arc<Self> {
        Arc::new(Self {
            dir: home.join(LOCKS),
            held: Mutex::default(),
        })
    }

    /// Becomes the writer of a thread, unless another process is.
    pub fn take(self: &Arc<Self>, id: Uuid) -> Result<Writer> {
        match self.held.lock().entry(id) {
            Entry::Occupied(mut held) => held.get_mut().users += 1,
            Entry::Vacant(vacant) => {
                let file = self.acquire(id)?;
                vacant.insert(Held { users: 1, file });
            }
        }
        Ok(Writer {
            id,
            writers: Arc::clone(self),
        })
    }

    fn acquire(&self, id: Uuid) -> Result<Option<File>> {
        let path = self.path(id);
        let locked = create_dirs(&self.dir).and_then(|()| {
            lock(&path).map_err(|source| match source.kind() {
                io::ErrorKind::WouldBlock => Error::ActiveWriter(id),
                _ => Error::io("lock", &path, source),
            })
        });
        match locked {
            Ok(file) => Ok(Some(file)),
            Err(error @ (Error::ReadOnly { .. } | Error::DiskFull { .. })) => {
                tracing::warn!(thread = %id, %error, "a thread is opened without its writer lock");
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn release(&self, id: Uuid) {
        let mut held = self.held.lock();
        let Entry::Occupied(mut entry) = held.entry(id) else {
            return;
        };
        entry.get_mut().users -= 1;
        if entry.get().users > 0 {
            return;
        }
        if let Some(file) = entry.remove().file {
            if let Ok(_alone) = lock(&self.dir.join(COORDINATION))
                && let Err(error) = fs::remove_file(self.path(id))
            {
                tracing::debug!(thread = %id, %error, "the lock file of a thread stays behind");
            }
            drop(file);
        }
    }

    fn path(&self, id: Uuid) -> PathBuf {
        self.dir.join(format!("{id}.lock"))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.writers.release(self.id);
    }
}

/// Locks a file, making it if need be; fails with `WouldBlock` while somebody else has the lock.
fn lock(path: &Path) -> io::Result<File> {
    for _ in 0..TRIES {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true);
        let file = platform::private_file(&mut options).open(path)?;
        platform::try_lock(&file)?;
        if platform::is_at(&file, path)? {
            return Ok(file);
        }
    }
    Err(io::ErrorKind::WouldBlock.into())
}
