//! The threads of one home directory.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;
use serde::Serialize;
use uuid::Uuid;

use crate::append::{AppendFile, Expect, create_dirs, ends_in_newline};
use crate::chain::Chain;
use crate::error::{Error, Result};
use crate::events::{self, EventLog, Numbers};
use crate::history::{History, LoadedHistory};
use crate::index::{self, Index};
use crate::layout::{ARCHIVED, GIT, INDEX, NAMES, RolloutName};
use crate::legacy;
use crate::log::Log;
use crate::platform;
use crate::query::{Page, Query, Summary};
use crate::record::Record;
use crate::replay::Replay;
use crate::requests::{KeyedRequest, Requests};
use crate::session::{GitInfo, SessionMeta};
use crate::time;
use crate::touched::Touched;
use crate::writer::Writers;

/// Where a store keeps what it keeps.
#[derive(Debug, Clone, Default)]
pub struct StoreOptions {
    /// The directory of the index; the home if none is given.
    pub sqlite_home: Option<PathBuf>,
}

/// The threads of one home directory. Cheap to open: files are touched by the calls that need them.
///
/// Any number of stores, in this and other processes, may work on one home.
pub struct Store {
    home: PathBuf,
    index_file: PathBuf,
    index: Mutex<Option<Index>>,
    touched: Arc<Touched>,
    writers: Arc<Writers>,
    requests: Requests,
}

impl Store {
    /// Prepares a store; nothing is read or opened yet.
    pub fn open(home: impl Into<PathBuf>, options: StoreOptions) -> Self {
        let home = home.into();
        let index_file = options.sqlite_home.as_deref().unwrap_or(&home).join(INDEX);
        Self {
            writers: Writers::new(&home),
            requests: Requests::new(&home),
            home,
            index_file,
            index: Mutex::new(None),
            touched: Arc::default(),
        }
    }

    /// Begins the log of a new thread. Its file appears with the first flush.
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
        let chain = Chain::open(path)?;
        match chain.base() {
            None => Ok(chain),
            Some(_) => self.with_index(|index| index.chain(path)),
        }
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
        let file = AppendFile::new(path, expect);
        Log::new(
            meta,
            file,
            Arc::clone(&self.touched),
            Arc::clone(&self.writers),
        )
    }

    /// Begins the log of a new thread with everything the rollout at `source` holds. Its file
    /// appears at once, and whole.
    pub fn fork(&self, source: &Path, meta: SessionMeta) -> Result<Log> {
        let path = self.path_of(&meta);
        let chain = self.chain(source)?;
        if let Some(parent) = path.parent() {
            create_dirs(parent)?;
        }
        let unfinished = path.with_extension("partial");
        let copied = copy_after(&meta, chain, source, &unfinished).and_then(|()| {
            fs::rename(&unfinished, &path).map_err(|e| Error::io("create", &path, e))
        });
        match copied {
            Ok(()) => {
                let mut log = self.log(&meta, path, Expect::Present);
                log.take_writer()?;
                Ok(log)
            }
            Err(error) => {
                if unfinished.exists()
                    && let Err(error) = fs::remove_file(&unfinished)
                {
                    tracing::warn!(path = %unfinished.display(), %error, "half a copy stays behind");
                }
                Err(error)
            }
        }
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
        self.with_index(|index| index.find(id, false))
    }

    /// The rollout of an archived thread.
    pub fn find_archived(&self, id: Uuid) -> Result<Option<PathBuf>> {
        self.with_index(|index| index.find(id, true))
    }

    /// What is known of a thread, archived or not.
    pub fn summary(&self, id: Uuid) -> Result<Option<Summary>> {
        self.with_index(|index| index.get(id))
    }

    /// A page of threads.
    pub fn list(&self, query: &Query) -> Result<Page> {
        self.with_index(|index| index.page(query, self.touched.take()))
    }

    /// Moves a thread out of the lists, unless another process writes to it. A log of this process that is
    /// open on it goes on writing to it.
    pub fn archive(&self, id: Uuid) -> Result<PathBuf> {
        let _writer = self.writers.take(id)?;
        let mut files = self.with_index(|index| index.files(id, false))?;
        // The newest is the thread; while it is in the lists, the others may be anywhere.
        files.reverse();
        let mut moved = Err(Error::NotFound(id));
        for path in files {
            let name = path.file_name().unwrap_or_default();
            moved = Ok(self.relocate(&path, self.home.join(ARCHIVED).join(name))?);
        }
        moved
    }

    /// Removes a thread for good, archived or not, unless another process writes to it.
    pub fn delete(&self, id: Uuid) -> Result<()> {
        let _writer = self.writers.take(id)?;
        let mut files = self.with_index(|index| index.files(id, false))?;
        files.extend(self.with_index(|index| index.files(id, true))?);
        if files.is_empty() {
            return Err(Error::NotFound(id));
        }
        for path in files {
            fs::remove_file(&path).map_err(|source| Error::io("delete", &path, source))?;
            self.touched.add(&path);
        }
        events::remove(&self.home, id)
    }

    /// The numbered events of a thread; nothing is read yet.
    pub fn events(&self, id: Uuid) -> EventLog {
        EventLog::new(&self.home, id)
    }

    /// Takes the numbers of a new epoch for the events of a thread, all of them above `used`.
    pub fn next_epoch(&self, used: u64) -> Result<Numbers> {
        events::next_epoch(&self.home, used)
    }

    /// Begins a request that has a key: gives the one that was made before with that key, or stores this one and gives
    /// it back.
    pub fn begin_request(&self, request: KeyedRequest) -> Result<KeyedRequest> {
        self.requests.begin(request)
    }

    /// Stores that a request with a key has acted.
    pub fn request_done(&self, request: KeyedRequest) -> Result<()> {
        self.requests.done(request)
    }

    /// Moves an archived thread back, as changed now.
    pub fn unarchive(&self, id: Uuid) -> Result<PathBuf> {
        let files = self.with_index(|index| index.files(id, true))?;
        let mut newest = None;
        for path in files {
            let name = RolloutName::of(&path).ok_or(Error::NotArchived(id))?;
            let to = self.home.join(name.day_dir()).join(name.file_name());
            newest.get_or_insert(self.relocate(&path, to)?);
        }
        let path = newest.ok_or(Error::NotArchived(id))?;
        let touched = File::options()
            .append(true)
            .open(&path)
            .and_then(|f| f.set_modified(SystemTime::now()));
        touched.map_err(|source| Error::io("touch", &path, source))?;
        self.touched.add(&path);
        Ok(path)
    }

    fn relocate(&self, from: &Path, to: PathBuf) -> Result<PathBuf> {
        let directory = to.parent().unwrap_or(&self.home);
        create_dirs(directory)?;
        if to.exists() {
            return Err(Error::Exists { path: to });
        }
        fs::rename(from, &to).map_err(|source| Error::io("move", from, source))?;
        Ok(to)
    }

    /// Names a thread, on disk when this returns.
    pub fn set_name(&self, id: Uuid, name: &str) -> Result<()> {
        #[derive(Serialize)]
        struct Line<'a> {
            id: Uuid,
            thread_name: &'a str,
            updated_at: String,
        }
        let updated_at = time::stamp(SystemTime::now());
        self.add_line(
            NAMES,
            &Line {
                id,
                thread_name: name,
                updated_at,
            },
        )
    }

    /// Sets what is known of a thread's repository, on disk when this returns. It replaces what the
    /// rollout says.
    pub fn set_git(&self, id: Uuid, git: &GitInfo) -> Result<()> {
        #[derive(Serialize)]
        struct Line<'a> {
            id: Uuid,
            git: &'a GitInfo,
            updated_at: String,
        }
        self.add_line(
            GIT,
            &Line {
                id,
                git,
                updated_at: time::stamp(SystemTime::now()),
            },
        )
    }

    fn add_line(&self, name: &str, line: &impl Serialize) -> Result<()> {
        let mut line = serde_json::to_vec(line).map_err(Error::Encode)?;
        line.push(b'\n');
        let mut file = AppendFile::new(self.home.join(name), Expect::Either);
        file.append(&line)?;
        file.sync()
    }

    /// Runs `work` on the index; if that fails, once more on one built again.
    fn with_index<T>(&self, work: impl Fn(&mut Index) -> Result<T>) -> Result<T> {
        let mut slot = self.index.lock();
        let index = match slot.take() {
            Some(index) => slot.insert(index),
            None => slot.insert(Index::open(&self.home, &self.index_file)?),
        };
        let error = match work(index) {
            Err(Error::Index(error)) => error,
            done => return done,
        };
        *slot = None;
        let index = if index::is_damage(&error) {
            index::remove(&self.index_file);
            Index::open(&self.home, &self.index_file)?
        } else {
            Index::in_memory(&self.home, &error)?
        };
        work(slot.insert(index))
    }
}

/// Writes a file that begins with `meta` and goes on with the lines of `source`, which is open as `chain`.
fn copy_after(meta: &SessionMeta, chain: Chain, source: &Path, target: &Path) -> Result<()> {
    let is_paginated = chain.meta.as_ref().is_some_and(SessionMeta::is_paginated);
    let mut head = Vec::new();
    Record::SessionMeta(Box::new(meta.clone())).encode(SystemTime::now(), &mut head)?;
    let mut from = quipu_disk::open(source).map_err(|error| Error::io("read", source, error))?;
    let copy = || -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let mut to = platform::private_file(&mut options).open(target)?;
        to.write_all(&head)?;
        if is_paginated {
            let mut to = BufWriter::new(&to);
            legacy::write(chain, &mut to)?;
            to.flush()?;
        } else {
            // A last line without its end costs itself, and must not cost the next one.
            let copied = io::copy(&mut from, &mut to)?;
            if !ends_in_newline(&from, copied)? {
                to.write_all(b"\n")?;
            }
        }
        to.sync_all()
    };
    copy().map_err(|error| Error::io("create", target, error))
}
