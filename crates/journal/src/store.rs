//! The threads of one home directory.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use uuid::Uuid;

use crate::append::Expect;
use crate::backend::Backend;
use crate::chain::{self, Chain, FromStart};
use crate::error::{Error, Result};
use crate::events::{EventLog, Numbers};
use crate::head::{Head, Listing};
use crate::history::{History, LoadedHistory};
use crate::home::Home;
use crate::kept::Kept;
use crate::layout::{ATTACHMENTS, GOALS, QUEUES, READ_STATES, RolloutName, SECTIONS, TAKEOVERS};
use crate::legacy;
use crate::log::Log;
use crate::query::{Page, Query, Summary};
use crate::record::Record;
use crate::replay::Replay;
use crate::requests::KeyedRequest;
use crate::session::{GitInfo, SessionMeta};
use crate::time;

/// Where a store keeps what it keeps.
#[derive(Debug, Clone, Default)]
pub struct StoreOptions {
    /// The directory of the index; the home if none is given.
    pub sqlite_home: Option<PathBuf>,
}

/// The threads of one home directory. Cheap to open: files are touched by the calls that need them.
///
/// Any number of stores, in this and other processes, may work on one home.
#[derive(Clone)]
pub struct Store {
    home: PathBuf,
    backend: Arc<dyn Backend>,
}

impl Store {
    /// Prepares a store in the files of a home; nothing is read or opened yet.
    pub fn open(home: impl Into<PathBuf>, options: StoreOptions) -> Self {
        let home = home.into();
        let sqlite_home = options.sqlite_home.as_deref().unwrap_or(&home);
        let backend = Arc::new(Home::new(&home, sqlite_home));
        Self::on(home, backend)
    }

    /// A store in another location. Rollouts are still named by paths below the home.
    pub fn on(home: impl Into<PathBuf>, backend: Arc<dyn Backend>) -> Self {
        let home = home.into();
        Self { home, backend }
    }

    /// Begins the log of a new thread. Its rollout appears with the first flush.
    pub fn create(&self, meta: SessionMeta) -> Result<Log> {
        let path = self.path_of(&meta);
        let mut log = self.log(&meta, path, Expect::Absent);
        log.append(&[Record::SessionMeta(Box::new(meta))])?;
        Ok(log)
    }

    /// Reads a thread back, with the parts of other rollouts that it begins with.
    pub fn replay(&self, path: &Path) -> Result<Replay> {
        Replay::of_chain(self.chain(path)?, path)
    }

    /// Reads a thread back as if its last turns had been taken back.
    pub fn replay_without(&self, path: &Path, turns: u32) -> Result<Replay> {
        Replay::without_last(turns, self.chain(path)?, path)
    }

    /// The items of a history that was found in the rollout at `path`.
    pub fn history(&self, history: &History, path: &Path) -> Result<LoadedHistory> {
        let read = history.read(self.chain(path)?);
        read.map_err(|source| Error::io("read", path, source))
    }

    fn chain(&self, path: &Path) -> Result<Chain> {
        let open = |path: &Path| self.backend.open(path);
        chain::complete(path, open, |id| self.backend.segment(id))
    }

    /// Reads the thread at `path` back and goes on with its log, unless another process has that.
    pub fn resume(&self, path: &Path) -> Result<(Replay, Log)> {
        let chain = self.chain(path)?;
        // First the right to write, then the reading, so that nothing is added in between.
        let log = chain.meta.as_ref().map(|meta| {
            let mut log = self.log(meta, path.to_owned(), Expect::Present);
            log.take_writer().map(|()| log)
        });
        let log = log.transpose()?;
        let replay = Replay::of_chain(chain, path)?;
        let mut log = log.ok_or(Error::NoSessionMeta)?;
        if !replay.unpaged.is_empty()
            && let Err(error) = log
                .add_pages(&replay.turns, &replay.unpaged)
                .and_then(|()| log.flush())
        {
            tracing::error!(thread = %log.id(), %error, "turns of an older program are not completed");
        }
        Ok((replay, log))
    }

    fn log(&self, meta: &SessionMeta, path: PathBuf, expect: Expect) -> Log {
        let rollout = self.backend.rollout(meta.id, path, expect);
        Log::new(meta, rollout, Arc::clone(&self.backend))
    }

    /// Begins the log of a new thread with everything the rollout at `source` holds. Its rollout
    /// appears at once, and whole.
    pub fn fork(&self, source: &Path, meta: SessionMeta) -> Result<Log> {
        let path = self.path_of(&meta);
        let mut chain = Some(self.chain(source)?);
        let mut head = Vec::new();
        Record::SessionMeta(Box::new(meta.clone())).encode(SystemTime::now(), &mut head)?;
        self.backend.create_whole(meta.id, &path, &mut |mut to| {
            to.write_all(&head)?;
            match chain.take() {
                Some(chain) => copy(chain, &mut to),
                None => Ok(()),
            }
        })?;
        let mut log = self.log(&meta, path, Expect::Present);
        log.take_writer()?;
        Ok(log)
    }

    fn path_of(&self, meta: &SessionMeta) -> PathBuf {
        let secs =
            time::parse_stamp(&meta.timestamp).unwrap_or_else(|| time::secs(SystemTime::now()));
        let name = RolloutName {
            created: time::local(secs),
            id: meta.id,
            segment: None,
        };
        self.home.join(name.day_dir()).join(name.file_name())
    }

    /// The rollout of a thread that is not archived.
    pub fn find(&self, id: Uuid) -> Result<Option<PathBuf>> {
        self.backend.find(id, false)
    }

    /// The rollout of an archived thread.
    pub fn find_archived(&self, id: Uuid) -> Result<Option<PathBuf>> {
        self.backend.find(id, true)
    }

    /// What is known of a thread, archived or not.
    pub fn summary(&self, id: Uuid) -> Result<Option<Summary>> {
        self.backend.summary(id)
    }

    /// What a rollout says of its thread by itself, and when it began as it is written there. Nothing if it does
    /// not say whose it is.
    pub fn summary_at(&self, path: &Path) -> Result<Option<(Summary, String)>> {
        let source = self.backend.open(path)?;
        Summary::of_rollout(source, path).map_err(|source| Error::io("read", path, source))
    }

    /// The bytes of a rollout.
    pub fn read(&self, path: &Path) -> Result<Box<dyn Read>> {
        let rollout = Chain::open(path, |path| self.backend.open(path))?;
        Ok(Box::new(rollout))
    }

    /// What lists show of a rollout, with the parts of other rollouts that it begins with.
    pub fn listing(&self, path: &Path) -> Result<Listing> {
        let source = self.backend.open(path)?;
        let head = Head::of(FromStart::new(&*source));
        let head = head.map_err(|source| Error::io("read", path, source))?;
        let head = head.complete(path, || self.chain(path));
        Ok(Listing::of_head(&head, RolloutName::of(path)))
    }

    /// A page of threads.
    pub fn list(&self, query: &Query) -> Result<Page> {
        self.backend.list(query)
    }

    /// Moves a thread out of the lists, unless another process writes to it. A log of this process that is
    /// open on it goes on writing to it.
    pub fn archive(&self, id: Uuid) -> Result<PathBuf> {
        let _writer = self.backend.lease(id)?;
        self.backend.archive(id)
    }

    /// Removes a thread for good, archived or not, unless another process writes to it.
    pub fn delete(&self, id: Uuid) -> Result<()> {
        let _writer = self.backend.lease(id)?;
        self.backend.delete(id)
    }

    /// The numbered events of a thread; nothing is read yet.
    pub fn events(&self, id: Uuid) -> EventLog {
        EventLog::new(id, self.backend.events(id))
    }

    /// Takes the numbers of a new epoch for the events of a thread, all of them above `used`.
    pub fn next_epoch(&self, id: Uuid, used: u64) -> Result<Numbers> {
        // A number that no thread can have had must not use all others up.
        Numbers::after(used)?;
        Numbers::of_epoch(self.backend.next_epoch(id, Numbers::epoch(used))?)
    }

    /// Begins a request that has a key: gives the one that was made before with that key, or stores this one and gives
    /// it back.
    pub fn begin_request(&self, request: KeyedRequest) -> Result<KeyedRequest> {
        self.backend.begin_request(request)
    }

    /// Stores that a request with a key has acted.
    pub fn request_done(&self, request: KeyedRequest) -> Result<()> {
        self.backend.request_done(request)
    }

    /// Moves an archived thread back, as changed now.
    pub fn unarchive(&self, id: Uuid) -> Result<PathBuf> {
        self.backend.unarchive(id)
    }

    /// Names a thread, on disk when this returns.
    pub fn set_name(&self, id: Uuid, name: &str) -> Result<()> {
        self.backend.set_name(id, name)
    }

    /// Sets what is known of a thread's repository, on disk when this returns. It replaces what the
    /// rollout says.
    pub fn set_git(&self, id: Uuid, git: &GitInfo) -> Result<()> {
        self.backend.set_git(id, git)
    }

    /// Keeps a text beside the rollout of a thread, as it was kept elsewhere; beside all of them if there is no thread.
    pub fn keep(&self, id: Option<Uuid>, name: &'static str, text: &str) -> Result<()> {
        self.backend.keep(id, name, Some(text)).map(drop)
    }

    /// The goal of a thread.
    pub fn goal(&self, id: Uuid) -> Kept {
        Kept::new(Arc::clone(&self.backend), Some(id), GOALS)
    }

    /// The queue of a thread.
    pub fn queue(&self, id: Uuid) -> Kept {
        Kept::new(Arc::clone(&self.backend), Some(id), QUEUES)
    }

    /// What clients stored with a thread.
    pub fn attachments(&self, id: Uuid) -> Kept {
        Kept::new(Arc::clone(&self.backend), Some(id), ATTACHMENTS)
    }

    /// The threads that clients stored something with.
    pub fn attached_threads(&self) -> Result<Vec<Uuid>> {
        self.backend.kept_threads(ATTACHMENTS)
    }

    /// What is read of a thread.
    pub fn read_state(&self, id: Uuid) -> Kept {
        Kept::new(Arc::clone(&self.backend), Some(id), READ_STATES)
    }

    /// What is read of each of these threads, where something is kept of it.
    pub fn read_states(&self, ids: &[Uuid]) -> Result<Vec<(Uuid, String)>> {
        self.backend.kept_beside(ids, READ_STATES)
    }

    /// How often a turn of a thread was taken over.
    pub fn takeovers(&self, id: Uuid) -> Kept {
        Kept::new(Arc::clone(&self.backend), Some(id), TAKEOVERS)
    }

    /// Some threads with a turn that nobody runs any more, as far as that is known without reading them.
    pub fn orphans(&self) -> Result<Vec<Uuid>> {
        self.backend.orphans()
    }

    /// A thread that this process writes to turned out to have no open turn.
    pub fn not_orphaned(&self, id: Uuid) -> Result<()> {
        self.backend.not_orphaned(id)
    }

    /// The sections of all threads.
    pub fn sections(&self) -> Kept {
        Kept::new(Arc::clone(&self.backend), None, SECTIONS)
    }

    /// Everything that one thread keeps.
    pub fn kept(&self, id: Uuid) -> [Kept; 5] {
        [
            self.goal(id),
            self.queue(id),
            self.attachments(id),
            self.read_state(id),
            self.takeovers(id),
        ]
    }
}

/// Writes the lines of a rollout, in the form that every program reads.
fn copy(mut chain: Chain, to: &mut dyn Write) -> io::Result<()> {
    if chain.meta.as_ref().is_some_and(SessionMeta::is_paginated) {
        return legacy::write(chain, to);
    }
    let copied = io::copy(&mut chain, to)?;
    // A last line without its end costs itself, and must not cost the next one.
    if !chain.ends_in_newline(copied)? {
        to.write_all(b"\n")?;
    }
    Ok(())
}
