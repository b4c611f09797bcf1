//! Adds whole lines to a file that other processes may be adding to as well.
//!
//! Every batch is one write in append mode, which the system does not mix with those of others. A tail
//! that somebody left without its newline is completed first, so it costs its own line and not ours; if
//! two do that at once, there is an empty line, which readers pass over. A write that fails half-way is
//! cut off again, so it costs nobody anything.
//!
//! The file itself is not locked: anybody who can read it could hold that lock, and every flush would
//! wait. A rollout has one writer ([`writer`](crate::writer)); files that several processes add to keep
//! what was half written, and the next line completes it.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::backend::RolloutSource;
use crate::error::{Error, Result};
use crate::reserve::Reserve;
use crate::{ordinals, platform};

/// Which files may be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// Only one that is not there yet.
    Absent,
    /// Only one that is there.
    Present,
    /// Any.
    Either,
}

/// A file that lines are added to. It is opened by the first write.
#[derive(Debug)]
pub(crate) struct AppendFile {
    path: PathBuf,
    expect: Expect,
    file: Option<File>,
    /// Where the file ended after our last write. While it still ends there, its tail is whole.
    end: Option<u64>,
    unsynced: bool,
    /// Room behind the end that writes leave alone, if one is kept.
    reserve: Option<Reserve>,
    /// Directories whose entries are not known to be on disk yet.
    unsynced_dirs: Vec<PathBuf>,
}

impl AppendFile {
    pub fn new(path: PathBuf, expect: Expect) -> Self {
        let unsynced_dirs = Vec::new();
        Self {
            path,
            expect,
            file: None,
            end: None,
            unsynced: false,
            reserve: None,
            unsynced_dirs,
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file is known to exist.
    pub fn exists(&self) -> bool {
        self.expect == Expect::Present
    }

    /// Adds `lines`, all or nothing. They must end in a newline.
    pub fn append(&mut self, lines: &[u8]) -> Result<()> {
        let new = self.expect == Expect::Absent;
        let file = match self.file.take() {
            Some(file) => file,
            None => self.open()?,
        };
        let added = self.add(&file, lines);
        if added.is_err() && new {
            // The file is ours and holds nothing: an empty rollout would only confuse readers.
            drop(file);
            self.reserve = self.reserve.take().map(|_| Reserve::default());
            if let Err(error) = std::fs::remove_file(&self.path) {
                tracing::warn!(path = %self.path.display(), %error, "an empty rollout stays behind");
            }
        } else {
            self.file = Some(file);
            if new {
                self.expect = Expect::Present;
            }
        }
        added
    }

    /// Keeps room behind the end of the file from now on, until it is closed. A write that would need it fails.
    pub fn keep_reserve(&mut self) {
        self.reserve.get_or_insert_default();
    }

    /// Whether the room is there, as far as is known without asking the system.
    pub fn has_reserve(&self) -> bool {
        let reserve = self.file.as_ref().and(self.reserve.as_ref());
        reserve.zip(self.end).is_some_and(|(it, end)| it.holds(end))
    }

    /// Makes sure that the room is there now.
    pub fn ensure_reserve(&mut self) -> Result<()> {
        let file = match self.file.take() {
            Some(file) => file,
            None => self.open()?,
        };
        let ensured = file.metadata().and_then(|state| match &mut self.reserve {
            Some(reserve) => reserve.ensure(&file, state.len(), 0),
            None => Ok(()),
        });
        self.file = Some(file);
        ensured.map_err(|source| Error::io("write", &self.path, source))
    }

    /// Adds the lines for which the room was kept.
    pub fn append_reserved(&mut self, lines: &[u8]) -> Result<()> {
        let reserve = self.reserve.take();
        let added = self.append(lines);
        self.reserve = reserve;
        added
    }

    /// The number for the next line: above all that are in the file, and not below `first`, which is right
    /// if nobody has added anything since our last write.
    pub fn next_ordinal(&mut self, first: u64) -> Result<u64> {
        let file = match self.file.take() {
            Some(file) => file,
            None => self.open()?,
        };
        let len = file.metadata().map(|state| state.len());
        let last = len.and_then(|len| match self.end == Some(len) {
            true => Ok(None),
            false => ordinals::last(&file, len),
        });
        self.file = Some(file);
        let last = last.map_err(|source| Error::io("read", &self.path, source))?;
        Ok(last.map_or(first, |last| first.max(last + 1)))
    }

    fn add(&mut self, file: &File, lines: &[u8]) -> Result<()> {
        let failed = |source| Error::io("write", &self.path, source);
        let state = file.metadata().map_err(failed)?;
        if platform::is_deleted(file, &state).map_err(failed)? {
            return Err(Error::Vanished {
                path: self.path.clone(),
            });
        }
        let before = state.len();
        if self.end.is_some_and(|end| end != before) {
            tracing::warn!(path = %self.path.display(), "another process writes to this file, too");
        }
        let source: &dyn RolloutSource = file;
        let whole = self.end == Some(before) || source.ends_in_newline(before).map_err(failed)?;
        let completed;
        let bytes = if whole {
            lines
        } else {
            completed = [b"\n", lines].concat();
            &completed
        };
        if let Some(reserve) = &mut self.reserve {
            let ensured = reserve.ensure(file, before, bytes.len());
            ensured.map_err(|source| Error::io("write", &self.path, source))?;
        }
        self.end = None;
        if let Err((written, source)) = write_whole(file, bytes) {
            if self.expect != Expect::Either {
                cut_off(file, before, written);
            }
            return Err(Error::io("write", &self.path, source));
        }
        self.end = Some(before + bytes.len() as u64);
        self.unsynced = true;
        Ok(())
    }

    /// Makes everything added so far survive a power failure.
    pub fn sync(&mut self) -> Result<()> {
        if let Some(file) = self.file.as_ref().filter(|_| self.unsynced) {
            file.sync_data()
                .map_err(|source| Error::io("sync", &self.path, source))?;
            self.unsynced = false;
        }
        while let Some(dir) = self.unsynced_dirs.last() {
            platform::sync_directory(dir).map_err(|source| Error::io("sync", dir, source))?;
            self.unsynced_dirs.pop();
        }
        Ok(())
    }

    /// Gives the descriptor back; the next write opens the file again.
    pub fn close(&mut self) -> Result<()> {
        self.sync()?;
        if let Some((file, mut reserve)) = self.file.take().zip(self.reserve.take())
            && let Err(error) = reserve.release(&file, self.end)
        {
            tracing::warn!(path = %self.path.display(), %error, "failed to give reserved room back");
        }
        self.file = None;
        self.end = None;
        Ok(())
    }

    fn open(&mut self) -> Result<File> {
        if self.expect != Expect::Present {
            self.create_parents()?;
        }
        let mut options = OpenOptions::new();
        options.read(true).append(true);
        platform::private_file(&mut options);
        match self.expect {
            Expect::Absent => options.create_new(true),
            Expect::Present => &mut options,
            Expect::Either => options.create(true),
        };
        let opened = options.open(&self.path).and_then(|file| {
            quipu_disk::require_regular(&file)?;
            Ok(file)
        });
        opened.map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => Error::Exists {
                path: self.path.clone(),
            },
            io::ErrorKind::NotFound => Error::Vanished {
                path: self.path.clone(),
            },
            _ => Error::io("open", &self.path, source),
        })
    }

    fn create_parents(&mut self) -> Result<()> {
        let Some(parent) = self.path.parent() else {
            return Ok(());
        };
        let there = parent.ancestors().position(Path::is_dir).unwrap_or(0);
        self.unsynced_dirs = parent
            .ancestors()
            .take(there + 1)
            .map(Path::to_owned)
            .collect();
        create_dirs(parent)
    }
}

/// Makes a directory and those above it, for this user only.
pub(crate) fn create_dirs(path: &Path) -> Result<()> {
    let mut builder = DirBuilder::new();
    let made = platform::private_dir(builder.recursive(true)).create(path);
    made.map_err(|source| Error::io("create", path, source))
}

/// Writes everything, or says how much was written.
fn write_whole(mut file: &File, bytes: &[u8]) -> std::result::Result<(), (usize, io::Error)> {
    let mut written = 0;
    while written < bytes.len() {
        match file.write(&bytes[written..]) {
            Ok(0) => return Err((written, io::ErrorKind::WriteZero.into())),
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err((written, error)),
        }
    }
    Ok(())
}

/// Takes a write back that did not come to its end, unless somebody has added to it.
fn cut_off(file: &File, before: u64, written: usize) {
    let ours = file
        .metadata()
        .is_ok_and(|state| state.len() == before + written as u64);
    if written > 0 && ours {
        // If even this fails, the next write finds the torn tail and completes it.
        if let Err(error) = file.set_len(before) {
            tracing::warn!(%error, "a torn line stays behind");
        }
    }
}
