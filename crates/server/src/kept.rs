//! What a thread keeps beside its rollout, across restarts: one small JSON file per thread and kind, replaced in one step.

use std::io;
use std::path::{Path, PathBuf};

use quipu_disk::Target;
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::Refusal;

/// The longest file that is read.
const MAX_FILE: u64 = 64 * 1024 * 1024;

/// The directory of what clients stored with threads.
const ATTACHMENTS: &str = "quipu_attachments";

/// The file of one thread, or of all.
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

    /// What clients stored with a thread.
    pub fn attachments(home: &Path, thread: Uuid) -> Kept {
        Kept::new(home, ATTACHMENTS, thread)
    }

    /// What is read of a thread.
    pub fn read_state(home: &Path, thread: Uuid) -> Kept {
        Kept::new(home, "quipu_read_states", thread)
    }

    /// The sections of all threads.
    pub fn sections(home: &Path) -> Kept {
        Kept {
            home: home.to_owned(),
            directory: "quipu_sections",
            name: "sections.json".to_owned(),
        }
    }

    /// Everything that one thread keeps in files of its own.
    pub fn all(home: &Path, thread: Uuid) -> [Kept; 4] {
        [
            Kept::goal(home, thread),
            Kept::queue(home, thread),
            Kept::attachments(home, thread),
            Kept::read_state(home, thread),
        ]
    }

    /// The threads that something is stored with.
    pub fn attached_threads(home: &Path) -> io::Result<Vec<Uuid>> {
        let files = match std::fs::read_dir(home.join(ATTACHMENTS)) {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut threads = Vec::new();
        for file in files {
            let name = file?.file_name();
            let id = name.to_str().and_then(|name| name.strip_suffix(".json"));
            threads.extend(id.and_then(|id| Uuid::parse_str(id).ok()));
        }
        Ok(threads)
    }

    fn new(home: &Path, directory: &'static str, thread: Uuid) -> Kept {
        Kept {
            home: home.to_owned(),
            directory,
            name: format!("{thread}.json"),
        }
    }

    pub fn exists(&self) -> bool {
        self.path().exists()
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

    /// Keeps something that is written with every turn: it survives the death of this process when this returns, but
    /// no fall of the system soon after.
    pub fn put(&self, value: &impl Serialize) -> io::Result<()> {
        quipu_disk::private_dirs(&self.home, Path::new(self.directory))?;
        quipu_disk::put(&self.path(), &serde_json::to_vec(value)?)
    }

    /// Changes what is kept while no other process can; on disk when this returns. `what` names it in errors.
    pub fn change<T: Serialize + DeserializeOwned + Default, R>(
        &self,
        what: &str,
        change: impl FnOnce(&mut T) -> Result<R, Refusal>,
    ) -> Result<R, Refusal> {
        let failed =
            |error: io::Error| Refusal::internal(format!("failed to store {what}: {error}"));
        quipu_disk::private_dirs(&self.home, Path::new(self.directory)).map_err(failed)?;
        let target = Target::lock(&self.path()).map_err(failed)?;
        // A file that cannot be read is not replaced by one that has less.
        let mut kept = match quipu_disk::read_text(&self.path(), MAX_FILE) {
            Ok(text) => serde_json::from_str(&text)
                .map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidData, error)))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => T::default(),
            Err(error) => return Err(failed(error)),
        };
        let changed = change(&mut kept)?;
        let text = serde_json::to_vec(&kept).map_err(|error| failed(error.into()))?;
        target.replace(&text).map_err(failed)?;
        Ok(changed)
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
