//! Reads configuration files and remembers what was looked at, so that a later check can tell cheaply
//! whether a new reading could give anything else.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Longer files are refused: no configuration is this long, and reading must stay bounded.
pub const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// What a path looked like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
    identity: (u64, u64),
}

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|metadata| Self {
            modified: metadata.modified().ok(),
            // The length of a directory says nothing about the files that matter here.
            length: if metadata.is_dir() { 0 } else { metadata.len() },
            identity: identity(&metadata),
        })
    }
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> (u64, u64) {
    (0, 0)
}

/// A file changed so shortly before it was read may change again without a new time of change: clocks
/// of file systems are coarse.
const SETTLED: Duration = Duration::from_millis(50);

/// The paths one reading of the configuration depended on, as they were.
#[derive(Debug, Clone, Default)]
pub struct Files {
    seen: HashMap<PathBuf, Option<Stamp>>,
    /// A file had just been changed when it was read, so its stamp proves nothing.
    unsettled: bool,
}

impl Files {
    /// The text of a file; `None` when there is none.
    pub fn read(&mut self, path: &Path) -> io::Result<Option<String>> {
        self.note(path);
        match quipu_disk::read_text(path, MAX_FILE_BYTES) {
            Ok(text) => Ok(Some(text)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What is at a path.
    pub fn metadata(&mut self, path: &Path) -> io::Result<Metadata> {
        self.note(path);
        fs::metadata(path)
    }

    /// Whether something is at a path.
    pub fn exists(&mut self, path: &Path) -> bool {
        self.note(path);
        path.exists()
    }

    /// Whether a directory is at a path.
    pub fn is_dir(&mut self, path: &Path) -> bool {
        self.note(path);
        path.is_dir()
    }

    /// Whether everything is surely as it was.
    pub fn unchanged(&self) -> bool {
        !self.unsettled && self.looks_unchanged()
    }

    /// Whether everything looks as it did. A file that had just been changed may have changed again all the same.
    pub fn looks_unchanged(&self) -> bool {
        let mut seen = self.seen.iter();
        seen.all(|(path, stamp)| Stamp::of(path) == *stamp)
    }

    /// Remembers a path that is about to be looked at.
    pub fn note(&mut self, path: &Path) {
        if !self.seen.contains_key(path) {
            let stamp = Stamp::of(path);
            let modified = stamp.and_then(|stamp| stamp.modified);
            let age = modified.map(|modified| modified.elapsed().unwrap_or_default());
            self.unsettled |= age.is_some_and(|age| age < SETTLED);
            self.seen.insert(path.to_owned(), stamp);
        }
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
