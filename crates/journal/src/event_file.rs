//! The numbered events of threads in the files of a home: one for each thread, and one with the last epoch.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use quipu_disk::Target;
use uuid::Uuid;

use crate::append::{AppendFile, Expect};
use crate::backend::EventStore;
use crate::error::{Error, Result};
use crate::layout::{EPOCH, EVENTS};

/// The longest file that is read: what is kept, and one event of any length.
const MAX_FILE: u64 = 64 << 20;

/// The file with the events of one thread.
#[derive(Debug)]
pub(crate) struct EventFile {
    path: PathBuf,
    file: AppendFile,
}

impl EventFile {
    pub fn new(home: &Path, id: Uuid) -> EventFile {
        let path = home.join(EVENTS).join(format!("{id}.jsonl"));
        EventFile {
            file: AppendFile::new(path.clone(), Expect::Either),
            path,
        }
    }
}

impl EventStore for EventFile {
    fn exists(&self) -> Result<bool> {
        Ok(self.path.exists())
    }

    fn read(&mut self) -> Result<Option<Vec<u8>>> {
        match quipu_disk::read(&self.path, MAX_FILE) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("read", &self.path, error)),
        }
    }

    fn replace(&mut self, text: &[u8]) -> Result<()> {
        self.file.close()?;
        let replaced = Target::lock(&self.path).and_then(|target| target.replace(text));
        replaced.map_err(|error| Error::io("write", &self.path, error))?;
        self.file = AppendFile::new(self.path.clone(), Expect::Either);
        Ok(())
    }

    fn begin(&mut self, text: &[u8]) -> Result<()> {
        self.remove()?;
        self.file.append(text)
    }

    fn append(&mut self, lines: &[u8]) -> Result<()> {
        self.file.append(lines)
    }

    fn remove(&mut self) -> Result<()> {
        self.file = AppendFile::new(self.path.clone(), Expect::Either);
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Error::io("delete", &self.path, error))
            }
            _ => Ok(()),
        }
    }

    fn close(&mut self) -> Result<()> {
        self.file.close()
    }
}

/// Takes an epoch above `used`. It is on disk as taken when this returns.
pub(crate) fn next_epoch(home: &Path, used: u64) -> Result<u64> {
    let path = home.join(EVENTS).join(EPOCH);
    let failed = |error| Error::io("write", &path, error);
    quipu_disk::private_dirs(home, Path::new(EVENTS)).map_err(failed)?;
    let target = Target::lock(&path).map_err(failed)?;
    let stored = match quipu_disk::read_text(&path, 64) {
        Ok(text) => text.trim().parse().map_err(|_| {
            let why = "it is not a number; delete it if no client waits to resume";
            failed(io::Error::new(io::ErrorKind::InvalidData, why))
        })?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => return Err(Error::io("read", &path, error)),
    };
    let epoch = used.max(stored) + 1;
    target
        .replace(format!("{epoch}\n").as_bytes())
        .map_err(failed)?;
    Ok(epoch)
}
