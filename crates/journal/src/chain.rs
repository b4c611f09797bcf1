//! A rollout with the parts of other files that its history begins with, read as if it were one file.
//!
//! A paginated fork, and a thread whose turns were taken back, hold only what came after: their
//! `history_base` says up to where another file is part of them, and that file may have a base of its own.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::backend::RolloutSource;
use crate::error::{Error, Result};
use crate::ordinals;
use crate::reader::{Warnings, read_records};
use crate::session::{HistoryBase, SessionMeta};

/// How many files a history may be spread over. Each fork and each revert adds at most one.
pub(crate) const MAX_PARTS: usize = 512;

/// An open rollout and the parts of others before it.
pub(crate) struct Chain {
    /// What the rollout itself says about its thread, if it says anything.
    pub meta: Option<SessionMeta>,
    /// The newest first; the newest is read to its end, which may move.
    parts: Vec<Part>,
    /// What the oldest part begins with, in turn.
    base: Option<HistoryBase>,
    position: u64,
}

/// The beginning of a file.
struct Part {
    file: Box<dyn RolloutSource>,
    len: u64,
}

impl Chain {
    /// Opens a rollout alone; [`Chain::base`] says whether there is more.
    pub fn open(path: &Path, open: impl Open) -> Result<Self> {
        let (file, meta) = with_meta(path, open)?;
        Ok(Self {
            base: meta.as_ref().and_then(|meta| meta.history_base),
            meta,
            parts: vec![Part {
                file,
                len: u64::MAX,
            }],
            position: 0,
        })
    }

    /// What is missing at the beginning.
    pub fn base(&self) -> Option<HistoryBase> {
        self.base
    }

    /// Puts the part that was missing before the others; `path` is its file.
    fn begin_with(&mut self, base: HistoryBase, path: &Path, open: impl Open) -> Result<()> {
        let broken = |why| Error::Base {
            id: base.thread_id,
            why,
        };
        if self.parts.len() >= MAX_PARTS {
            return Err(broken("is one of too many that continue each other"));
        }
        let (file, meta) = with_meta(path, open)?;
        let unreadable = |source| Error::io("read", path, source);
        let len = base.end_byte_offset;
        if file.size().map_err(unreadable)? < len {
            return Err(broken("is shorter than the part of it that is needed"));
        }
        if !file.ends_in_newline(len).map_err(unreadable)? {
            return Err(broken(
                "was changed: the part that is needed ends inside a line",
            ));
        }
        let last = ordinals::last(&*file, len).map_err(unreadable)?;
        if last.is_some_and(|last| last >= base.end_ordinal_exclusive) {
            return Err(broken("was changed: its lines are numbered in another way"));
        }
        self.base = meta.and_then(|meta| meta.history_base);
        self.parts.push(Part { file, len });
        Ok(())
    }

    /// Whether the first `len` bytes end in a newline; no bytes do.
    pub fn ends_in_newline(&self, len: u64) -> io::Result<bool> {
        let Some(last) = len.checked_sub(1) else {
            return Ok(true);
        };
        let (part, at) = self.at(last);
        part.file.ends_in_newline(at + 1)
    }

    /// Where the rollout's own lines begin.
    pub fn own_start(&self) -> u64 {
        self.parts[1..].iter().map(|part| part.len).sum()
    }

    /// The part at a place, and the place in it.
    fn at(&self, mut position: u64) -> (&Part, u64) {
        for part in self.parts[1..].iter().rev() {
            if position < part.len {
                return (part, position);
            }
            position -= part.len;
        }
        (&self.parts[0], position)
    }
}

impl Read for Chain {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (part, at) = self.at(self.position);
        let left = usize::try_from(part.len - at).unwrap_or(usize::MAX);
        let room = buffer.len().min(left);
        let count = part.file.read_at(&mut buffer[..room], at)?;
        self.position += count as u64;
        Ok(count)
    }
}

impl Seek for Chain {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
            SeekFrom::End(by) => {
                let own = self.parts[0].file.size()?;
                (self.own_start() + own).checked_add_signed(by)
            }
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

/// How the rollout at a path is opened.
pub(crate) trait Open: Fn(&Path) -> Result<Box<dyn RolloutSource>> {}

impl<F: Fn(&Path) -> Result<Box<dyn RolloutSource>>> Open for F {}

/// Opens a rollout that is a file.
pub(crate) fn open_file(path: &Path) -> Result<Box<dyn RolloutSource>> {
    let opened = quipu_disk::open(path);
    let file = opened.map_err(|source| Error::io("read", path, source))?;
    Ok(Box::new(file))
}

/// A rollout that is read from its beginning.
pub(crate) struct FromStart<'a> {
    source: &'a dyn RolloutSource,
    position: u64,
}

impl<'a> FromStart<'a> {
    pub fn new(source: &'a dyn RolloutSource) -> Self {
        Self {
            source,
            position: 0,
        }
    }
}

impl Read for FromStart<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read_at(buffer, self.position)?;
        self.position += count as u64;
        Ok(count)
    }
}

fn with_meta(
    path: &Path,
    open: impl Open,
) -> Result<(Box<dyn RolloutSource>, Option<SessionMeta>)> {
    let file = open(path)?;
    let find = || -> io::Result<Option<SessionMeta>> {
        let mut meta = None;
        let lines = FromStart::new(&*file);
        read_records(lines, &mut Warnings::default(), |record, _| {
            if record.kind == "session_meta" {
                meta = record.parse().ok();
            }
            match meta {
                Some(_) => ControlFlow::Break(()),
                None => ControlFlow::Continue(()),
            }
        })?;
        Ok(meta)
    };
    let meta = find().map_err(|source| Error::io("read", path, source))?;
    Ok((file, meta))
}

/// Finds the parts of a chain: `find` knows where the file of an id is.
pub(crate) fn complete(
    path: &Path,
    open: impl Open + Copy,
    mut find: impl FnMut(Uuid) -> Result<Option<PathBuf>>,
) -> Result<Chain> {
    let mut chain = Chain::open(path, open)?;
    let mut used = vec![path.to_owned()];
    while let Some(base) = chain.base() {
        let broken = |why| Error::Base {
            id: base.thread_id,
            why,
        };
        let part = find(base.thread_id)?.ok_or(broken("is missing"))?;
        if used.contains(&part) {
            return Err(broken("is itself a continuation of this one"));
        }
        chain.begin_with(base, &part, open)?;
        used.push(part);
    }
    Ok(chain)
}
