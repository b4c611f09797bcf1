//! Where the threads of a store are kept. What a thread is (records, turns, history, chains of rollouts) is the same
//! everywhere; a [`Backend`] knows where the bytes of rollouts lie, who may write to them, and what lists show.
//!
//! The files of a home with their index are one backend, in this crate; a database is another. All paths are
//! those that clients see: below the home, whether or not there is a file.

use std::fmt::Debug;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use uuid::Uuid;

use crate::error::Result;
use crate::query::{Page, Query, Summary};
use crate::requests::KeyedRequest;
use crate::session::GitInfo;

pub use crate::append::Expect;
pub use crate::head::Listing;
pub use crate::layout::{
    ARCHIVED, ATTACHMENTS, EPOCH, EVENTS, GIT, GOALS, NAMES, QUEUES, READ_STATES, REQUESTS,
    RolloutName, SECTIONS, SESSIONS,
};
pub use crate::ordinals::last as last_ordinal;
pub use crate::record::runs_after;
pub use crate::requests::MAX_AGE as REQUEST_AGE;

/// A location of threads. All calls block.
pub trait Backend: Send + Sync {
    /// Opens a rollout for reading.
    fn open(&self, path: &Path) -> Result<Box<dyn RolloutSource>>;

    /// A rollout to write to. Nothing happens before the first write, for which the [lease](Backend::lease) of the
    /// thread must be held.
    fn rollout(&self, thread: Uuid, path: PathBuf, expect: Expect) -> Box<dyn RolloutSink>;

    /// Makes a rollout of everything that `fill` writes; others see nothing of it or all.
    fn create_whole(&self, thread: Uuid, path: &Path, fill: &mut Fill<'_>) -> Result<()>;

    /// Becomes the writer of a thread, or fails with [`ActiveWriter`](crate::Error::ActiveWriter).
    fn lease(&self, thread: Uuid) -> Result<Box<dyn Lease>>;

    /// The newest rollout of a thread, among those that are archived or those that are not.
    fn find(&self, thread: Uuid, archived: bool) -> Result<Option<PathBuf>>;

    /// The rollout that others call by this id.
    fn segment(&self, id: Uuid) -> Result<Option<PathBuf>>;

    /// What is known of a thread, archived or not.
    fn summary(&self, thread: Uuid) -> Result<Option<Summary>>;

    /// A page of threads.
    fn list(&self, query: &Query) -> Result<Page>;

    /// Moves a thread out of the lists, as its writer.
    fn archive(&self, thread: Uuid) -> Result<PathBuf>;

    /// Moves an archived thread back, as changed now.
    fn unarchive(&self, thread: Uuid) -> Result<PathBuf>;

    /// Removes a thread for good, archived or not, as its writer.
    fn delete(&self, thread: Uuid) -> Result<()>;

    /// Names a thread, durably.
    fn set_name(&self, thread: Uuid, name: &str) -> Result<()>;

    /// Sets what is known of a thread's repository, durably.
    fn set_git(&self, thread: Uuid, git: &GitInfo) -> Result<()>;

    /// What is kept under a name beside a rollout, or beside all of them.
    fn kept(&self, thread: Option<Uuid>, name: &'static str) -> Result<Option<String>>;

    /// Keeps a text, durably, or none any more; says whether one was kept.
    fn keep(&self, thread: Option<Uuid>, name: &'static str, text: Option<&str>) -> Result<bool>;

    /// Keeps a text that changes with every turn: it survives the death of this process when this returns, but maybe
    /// no fall of the system soon after.
    fn keep_lightly(&self, thread: Uuid, name: &'static str, text: &str) -> Result<()> {
        self.keep(Some(thread), name, Some(text)).map(drop)
    }

    /// Keeps a text, durably, if what was kept is `old`; says whether it was.
    fn keep_if(
        &self,
        thread: Option<Uuid>,
        name: &'static str,
        old: Option<&str>,
        text: &str,
    ) -> Result<bool>;

    /// What is kept under a name beside each of these threads, where something is.
    fn kept_beside(&self, threads: &[Uuid], name: &'static str) -> Result<Vec<(Uuid, String)>> {
        let kept = threads.iter().map(|thread| {
            let text = self.kept(Some(*thread), name)?;
            Ok(text.map(|text| (*thread, text)))
        });
        kept.filter_map(Result::transpose).collect()
    }

    /// The threads beside which something is kept under a name.
    fn kept_threads(&self, name: &'static str) -> Result<Vec<Uuid>>;

    /// Some threads with a turn that is not known to have ended and that nobody runs, as far as that is known without
    /// reading them.
    fn orphans(&self) -> Result<Vec<Uuid>> {
        Ok(Vec::new())
    }

    /// A thread turned out to have no open turn, so it is not among the [orphans](Backend::orphans). Called by its writer.
    fn not_orphaned(&self, _: Uuid) -> Result<()> {
        Ok(())
    }

    /// The numbered events of a thread; nothing is read yet.
    fn events(&self, thread: Uuid) -> Box<dyn EventStore>;

    /// Takes an epoch for the events of a thread: one above `used` that the thread never had, durably.
    fn next_epoch(&self, thread: Uuid, used: u64) -> Result<u64>;

    /// Gives the request that was made with the same key, or stores this one, durably, and gives it back.
    fn begin_request(&self, request: KeyedRequest) -> Result<KeyedRequest>;

    /// Stores that a request has acted.
    fn request_done(&self, request: KeyedRequest) -> Result<()>;
}

/// The events of one thread at rest: a text that lines are added to. One process at a time writes to it: the one that
/// writes to the thread.
pub trait EventStore: Debug + Send + Sync {
    /// Whether there is a text.
    fn exists(&self) -> Result<bool>;

    /// The text, if there is one.
    fn read(&mut self) -> Result<Option<Vec<u8>>>;

    /// Replaces the text; others see the one or the other.
    fn replace(&mut self, text: &[u8]) -> Result<()>;

    /// Replaces a text that is no longer needed, which may be lost if this fails.
    fn begin(&mut self, text: &[u8]) -> Result<()> {
        self.replace(text)
    }

    /// Adds lines. They survive the end of this process when this returns.
    fn append(&mut self, lines: &[u8]) -> Result<()>;

    /// Removes the text.
    fn remove(&mut self) -> Result<()>;

    /// Gives back what being open takes; the next write opens it again.
    fn close(&mut self) -> Result<()>;
}

/// Writes the content of a new rollout; called at most once.
pub type Fill<'a> = dyn FnMut(&mut dyn Write) -> io::Result<()> + 'a;

/// The right to write to a thread, given back when dropped.
pub trait Lease: Debug + Send + Sync {}

/// A rollout that is open for reading.
pub trait RolloutSource: Send + Sync {
    /// Reads some bytes from a place; none at the end.
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize>;

    /// How long it is now.
    fn size(&self) -> io::Result<u64>;

    /// When it changed last.
    fn modified(&self) -> io::Result<SystemTime>;
}

impl dyn RolloutSource + '_ {
    /// Fills the buffer from a place.
    pub(crate) fn read_exact_at(&self, buffer: &mut [u8], at: u64) -> io::Result<()> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.read_at(&mut buffer[filled..], at + filled as u64) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Whether the first `len` bytes end in a newline; no bytes do.
    pub fn ends_in_newline(&self, len: u64) -> io::Result<bool> {
        let Some(last) = len.checked_sub(1) else {
            return Ok(true);
        };
        let mut byte = [0];
        self.read_exact_at(&mut byte, last)?;
        Ok(byte == *b"\n")
    }
}

/// A rollout that lines are added to.
pub trait RolloutSink: Debug + Send {
    /// Where it is, or will be.
    fn path(&self) -> &Path;

    /// Whether it is known to be there.
    fn exists(&self) -> bool;

    /// Adds `lines`, all or nothing. They end in a newline.
    fn append(&mut self, lines: &[u8]) -> Result<()>;

    /// The number for the next line of a paginated rollout: above all that are there, and not below `first`.
    fn next_ordinal(&mut self, first: u64) -> Result<u64>;

    /// Makes everything added so far survive a power failure.
    fn sync(&mut self) -> Result<()>;

    /// Gives back what being open takes; the next write opens it again.
    fn close(&mut self) -> Result<()>;

    /// Keeps room for the end of a turn from now on, until it is closed. A write that would need it fails. A
    /// backend whose room cannot be kept has nothing to do.
    fn keep_reserve(&mut self) {}

    /// Makes sure that the room is there now.
    fn ensure_reserve(&mut self) -> Result<()> {
        Ok(())
    }

    /// Whether the room is there, as far as is known without asking.
    fn has_reserve(&self) -> bool {
        true
    }

    /// Adds the lines for which the room was kept.
    fn append_reserved(&mut self, lines: &[u8]) -> Result<()> {
        self.append(lines)
    }
}
