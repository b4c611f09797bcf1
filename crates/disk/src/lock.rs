//! Locks between programs. A program that can read a file can also lock it, a sandboxed command too, so a lock
//! is waited for only so long.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::read::require_regular;

/// How long others may hold a lock. A writer of a small file is done sooner.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often it is tried again.
const TRY_AGAIN: Duration = Duration::from_millis(10);

/// Opens a regular file and keeps other writers out of it until it is closed. Blocks for some seconds at
/// most, if others keep it locked.
pub fn open_locked(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let file = patiently(PATIENCE, attempt::on_file(options, path))?;
    require_regular(&file)?;
    Ok(file)
}

/// Keeps other writers out of a directory until the result is dropped. The directory itself is locked where that is
/// possible: its files are replaced by each write, and a lock file would be litter.
pub(crate) fn lock_directory(directory: &Path) -> io::Result<File> {
    patiently(PATIENCE, attempt::on_directory(directory)?)
}

/// Tries until it gives something.
fn patiently<T>(
    patience: Duration,
    mut attempt: impl FnMut() -> io::Result<Option<T>>,
) -> io::Result<T> {
    let begun = Instant::now();
    loop {
        if let Some(got) = attempt()? {
            return Ok(got);
        }
        if begun.elapsed() >= patience {
            let why = format!(
                "another program has kept it locked for {} seconds; end that program or try again later",
                patience.as_secs()
            );
            return Err(io::Error::new(io::ErrorKind::TimedOut, why));
        }
        std::thread::sleep(TRY_AGAIN);
    }
}

#[cfg(unix)]
mod attempt {
    //! One try to get a lock; nothing if another program has it.

    use rustix::fs::{FlockOperation, flock};
    use rustix::io::Errno;

    use super::{File, OpenOptions, Path, io};

    pub fn on_file(
        options: &mut OpenOptions,
        path: &Path,
    ) -> impl FnMut() -> io::Result<Option<File>> {
        move || {
            let file = options.open(path)?;
            Ok(try_lock(&file)?.then_some(file))
        }
    }

    pub fn on_directory(directory: &Path) -> io::Result<impl FnMut() -> io::Result<Option<File>>> {
        let directory = File::open(directory)?;
        Ok(move || match try_lock(&directory)? {
            true => directory.try_clone().map(Some),
            false => Ok(None),
        })
    }

    fn try_lock(file: &File) -> io::Result<bool> {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(true),
            Err(Errno::WOULDBLOCK) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(windows)]
mod attempt {
    //! One try to get a lock; nothing if another program has it. A file that is not shared is locked.

    use std::os::windows::fs::OpenOptionsExt as _;

    use super::{File, OpenOptions, Path, io};

    const SHARE_READ: u32 = 1;
    /// Somebody else has the file open, and does not share it.
    const SHARING_VIOLATION: i32 = 32;

    pub fn on_file(
        options: &mut OpenOptions,
        path: &Path,
    ) -> impl FnMut() -> io::Result<Option<File>> {
        options.share_mode(SHARE_READ);
        move || open(options, path)
    }

    pub fn on_directory(directory: &Path) -> io::Result<impl FnMut() -> io::Result<Option<File>>> {
        let path = directory.join(".quipu.lock");
        let mut options = File::options();
        options.create(true).append(true).share_mode(0);
        Ok(move || open(&options, &path))
    }

    fn open(options: &OpenOptions, path: &Path) -> io::Result<Option<File>> {
        match options.open(path) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.raw_os_error() == Some(SHARING_VIOLATION) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_others_keep_is_given_up() {
        let directory = tempfile::tempdir().unwrap();
        let held = lock_directory(directory.path()).unwrap();
        let again = || {
            patiently(
                Duration::from_millis(30),
                attempt::on_directory(directory.path())?,
            )
        };
        let error = again().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(
            error
                .to_string()
                .starts_with("another program has kept it locked")
        );
        drop(held);
        again().unwrap();
    }

    #[test]
    fn a_file_is_locked_while_it_is_open() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("f");
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        let held = open_locked(&mut options, &path).unwrap();
        let mut attempt = attempt::on_file(&mut options, &path);
        assert!(attempt().unwrap().is_none());
        drop(held);
        assert!(attempt().unwrap().is_some());
    }
}
