//! The threads of one home folder.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use serde::Serialize;
use uuid::Uuid;

use crate::append::{AppendFile, Expect, create_dirs, ends_in_newline};
use crate::error::{Error, Result};
use crate::index::{self, Index};
use crate::layout::{ARCHIVED, GIT, INDEX, NAMES, RolloutName};
use crate::log::Log;
use crate::platform;
use crate::query::{Page, Query, Summary};
use crate::record::Record;
use crate::session::{GitInfo, SessionMeta};
use crate::time::{self, Civil};
use crate::touched::Touched;

/// Where a store keeps what it keeps.
#[derive(Debug, Clone, Default)]
pub struct StoreOptions {
    /// The folder of the index; the home if none is given.
    pub sqlite_home: Option<PathBuf>,
}

/// The threads of one home folder. Cheap to open: files are touched by the calls that need them.
///
/// Any number of stores, in this and other processes, may work on one home.
pub struct Store {
    home: PathBuf,
    index_file: PathBuf,
    index: Mutex<Option<Index>>,
    touched: Arc<Touched>,
}

impl Store {
    /// Prepares a store; nothing is read or opened yet.
    pub fn open(home: impl Into<PathBuf>, options: StoreOptions) -> Self {
        let home = home.into();
        let index_file = options.sqlite_home.as_deref().unwrap_or(&home).join(INDEX);
        Self {
            home,
            index_file,
            index: Mutex::new(None),
            touched: Arc::default(),
        }
    }

    /// Begins the log of a new thread. Its file appears with the first flush.
    pub fn create(&self, meta: SessionMeta) -> Result<Log> {
        let path = self.path_of(&meta);
        let file = AppendFile::new(path, Expect::Absent);
        let mut log = Log::new(meta.id, file, Arc::clone(&self.touched));
        log.append(&[Record::SessionMeta(Box::new(meta))])?;
        Ok(log)
    }

    /// Goes on with the log of a thread that is on disk.
    pub fn resume(&self, id: Uuid, path: &Path) -> Log {
        let file = AppendFile::new(path.to_owned(), Expect::Present);
        Log::new(id, file, Arc::clone(&self.touched))
    }

    /// Begins the log of a new thread with everything the rollout at `source` holds. Its file
    /// appears at once, and whole.
    pub fn fork(&self, source: &Path, meta: SessionMeta) -> Result<Log> {
        let path = self.path_of(&meta);
        let id = meta.id;
        if let Some(parent) = path.parent() {
            create_dirs(parent)?;
        }
        let unfinished = path.with_extension("partial");
        let copied = copy_after(&meta, source, &unfinished).and_then(|()| {
            fs::rename(&unfinished, &path).map_err(|e| Error::io("create", &path, e))
        });
        match copied {
            Ok(()) => Ok(self.resume(id, &path)),
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
            created: Civil::local(secs),
            id: meta.id,
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

    /// Moves a thread out of the lists. A log that is open on it goes on writing to it.
    pub fn archive(&self, id: Uuid) -> Result<PathBuf> {
        let path = self.find(id)?.ok_or(Error::NotFound(id))?;
        let name = path.file_name().unwrap_or_default();
        self.relocate(&path, self.home.join(ARCHIVED).join(name))
    }

    /// Moves an archived thread back, as changed now.
    pub fn unarchive(&self, id: Uuid) -> Result<PathBuf> {
        let path = self.find_archived(id)?.ok_or(Error::NotArchived(id))?;
        let name = RolloutName::of(&path).ok_or(Error::NotArchived(id))?;
        let path = self.relocate(&path, self.home.join(name.day_dir()).join(name.file_name()))?;
        let touched = File::options()
            .append(true)
            .open(&path)
            .and_then(|f| f.set_modified(SystemTime::now()));
        touched.map_err(|source| Error::io("touch", &path, source))?;
        self.touched.add(&path);
        Ok(path)
    }

    fn relocate(&self, from: &Path, to: PathBuf) -> Result<PathBuf> {
        let folder = to.parent().unwrap_or(&self.home);
        create_dirs(folder)?;
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

    /// Runs `work` on the index; if that fails, once more on one built anew.
    fn with_index<T>(&self, work: impl Fn(&mut Index) -> Result<T>) -> Result<T> {
        let mut slot = self.index.lock().unwrap_or_else(PoisonError::into_inner);
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

/// Writes a file that begins with `meta` and goes on with the lines of `source`.
fn copy_after(meta: &SessionMeta, source: &Path, target: &Path) -> Result<()> {
    let mut head = Vec::new();
    Record::SessionMeta(Box::new(meta.clone())).encode(SystemTime::now(), &mut head)?;
    let mut from = File::open(source).map_err(|error| Error::io("read", source, error))?;
    let mut copy = || -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let mut to = platform::private_file(&mut options).open(target)?;
        to.write_all(&head)?;
        // A last line without its end costs itself, and must not cost the next one.
        let copied = io::copy(&mut from, &mut to)?;
        if !ends_in_newline(&from, copied)? {
            to.write_all(b"\n")?;
        }
        to.sync_all()
    };
    copy().map_err(|error| Error::io("create", target, error))
}
