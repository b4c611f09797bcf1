//! What a thread keeps beside its rollout, across restarts: one small JSON file per thread and kind, replaced in one step.

use std::io;
use std::path::{Path, PathBuf};

use quipu_disk::Target;
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

/// The longest file that is read.
const MAX_FILE: u64 = 64 * 1024 * 1024;

/// The file of one thread.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    home: PathBuf,
    directory: &'static str,
    name: String,
}

impl Kept {
    /// The goal of a thread.
    pub fn goal(home: &Path, thread: Uuid) -> Kept {
        Kept::new(home, "quipu_goals", thread)
    }

    /// The queue of a thread.
    pub fn queue(home: &Path, thread: Uuid) -> Kept {
        Kept::new(home, "quipu_queues", thread)
    }

    fn new(home: &Path, directory: &'static str, thread: Uuid) -> Kept {
        Kept {
            home: home.to_owned(),
            directory,
            name: format!("{thread}.json"),
        }
    }

    fn path(&self) -> PathBuf {
        self.home.join(self.directory).join(&self.name)
    }

    /// What is kept, if anything is. A file that cannot be read is reported and counts as none.
    pub fn read<T: DeserializeOwned>(&self) -> Option<T> {
        let path = self.path();
        let text = match quipu_disk::read_text(&path, MAX_FILE) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "failed to read what a thread keeps");
                return None;
            }
        };
        let read = serde_json::from_str(&text);
        read.inspect_err(|error| {
            tracing::warn!(path = %path.display(), %error, "invalid file of a thread");
        })
        .ok()
    }

    /// Keeps something; on disk when this returns.
    pub fn write(&self, value: &impl Serialize) -> io::Result<()> {
        quipu_disk::private_dirs(&self.home, Path::new(self.directory))?;
        Target::lock(&self.path())?.replace(&serde_json::to_vec(value)?)
    }

    /// Keeps nothing any more; `false` if nothing was kept.
    pub fn remove(&self) -> io::Result<bool> {
        match std::fs::remove_file(self.path()) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}
