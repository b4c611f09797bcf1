//! The threads of a home directory: rollout files, which are authoritative, and an index over them.
//!
//! Any number of these, in this and other processes, may work on one home.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;
use quipu_disk::Target;
use serde::Serialize;
use uuid::Uuid;

use crate::append::{AppendFile, Expect, create_dirs};
use crate::backend::{Backend, EventStore, Fill, Lease, RolloutSink, RolloutSource};
use crate::chain;
use crate::error::{Error, Result};
use crate::event_file::{self, EventFile};
use crate::index::{self, Index};
use crate::layout::{ARCHIVED, GIT, INDEX, NAMES, RolloutName};
use crate::platform;
use crate::query::{Page, Query, Summary};
use crate::requests::{KeyedRequest, Requests};
use crate::session::GitInfo;
use crate::time;
use crate::touched::Touched;
use crate::writer::{Writer, Writers};

/// The longest text that is read from beside a rollout.
const MAX_KEPT: u64 = 64 << 20;

/// The files and the index of one home.
pub(crate) struct Home {
    path: PathBuf,
    index_file: PathBuf,
    index: Mutex<Option<Index>>,
    touched: Arc<Touched>,
    writers: Arc<Writers>,
    requests: Requests,
}

impl Home {
    /// Prepares a home; nothing is read or opened yet. The index is in the directory `sqlite_home`.
    pub fn new(path: &Path, sqlite_home: &Path) -> Self {
        Self {
            path: path.to_owned(),
            index_file: sqlite_home.join(INDEX),
            index: Mutex::new(None),
            touched: Arc::default(),
            writers: Writers::new(path),
            requests: Requests::new(path),
        }
    }

    fn relocate(&self, from: &Path, to: PathBuf) -> Result<PathBuf> {
        let directory = to.parent().unwrap_or(&self.path);
        create_dirs(directory)?;
        if to.exists() {
            return Err(Error::Exists { path: to });
        }
        fs::rename(from, &to).map_err(|source| Error::io("move", from, source))?;
        Ok(to)
    }

    /// The file of a thread, or of all, in the directory of a name.
    fn kept_path(&self, thread: Option<Uuid>, name: &str) -> PathBuf {
        let stem = match thread {
            Some(thread) => thread.to_string(),
            None => name.trim_start_matches("quipu_").to_owned(),
        };
        self.path.join(name).join(format!("{stem}.json"))
    }

    /// The file, with nobody else writing to it.
    fn lock_kept(&self, path: &Path, name: &str) -> Result<Target> {
        let locked = quipu_disk::private_dirs(&self.path, Path::new(name));
        let locked = locked.and_then(|_| Target::lock(path));
        locked.map_err(|error| Error::io("write", path, error))
    }

    fn add_line(&self, name: &str, line: &impl Serialize) -> Result<()> {
        let mut line = serde_json::to_vec(line).map_err(Error::Encode)?;
        line.push(b'\n');
        let mut file = AppendFile::new(self.path.join(name), Expect::Either);
        file.append(&line)?;
        file.sync()
    }

    /// Runs `work` on the index; if that fails, once more on one built again.
    fn with_index<T>(&self, work: impl Fn(&mut Index) -> Result<T>) -> Result<T> {
        let mut slot = self.index.lock();
        let index = match slot.take() {
            Some(index) => slot.insert(index),
            None => slot.insert(Index::open(&self.path, &self.index_file)?),
        };
        let error = match work(index) {
            Err(Error::Index(error)) => error,
            done => return done,
        };
        *slot = None;
        let index = if index::is_damage(&error) {
            index::remove(&self.index_file);
            Index::open(&self.path, &self.index_file)?
        } else {
            Index::in_memory(&self.path, &error)?
        };
        work(slot.insert(index))
    }
}

impl Backend for Home {
    fn open(&self, path: &Path) -> Result<Box<dyn RolloutSource>> {
        chain::open_file(path)
    }

    fn rollout(&self, _: Uuid, path: PathBuf, expect: Expect) -> Box<dyn RolloutSink> {
        Box::new(RolloutFile {
            file: AppendFile::new(path, expect),
            touched: Arc::clone(&self.touched),
        })
    }

    fn create_whole(&self, _: Uuid, path: &Path, fill: &mut Fill<'_>) -> Result<()> {
        if let Some(parent) = path.parent() {
            create_dirs(parent)?;
        }
        let unfinished = path.with_extension("partial");
        let written = write_whole(&unfinished, fill)
            .map_err(|error| Error::io("create", &unfinished, error))
            .and_then(|()| fs::rename(&unfinished, path).map_err(|e| Error::io("create", path, e)));
        if written.is_err()
            && unfinished.exists()
            && let Err(error) = fs::remove_file(&unfinished)
        {
            tracing::warn!(path = %unfinished.display(), %error, "half a copy stays behind");
        }
        written
    }

    fn lease(&self, thread: Uuid) -> Result<Box<dyn Lease>> {
        Ok(Box::new(self.writers.take(thread)?))
    }

    fn find(&self, thread: Uuid, archived: bool) -> Result<Option<PathBuf>> {
        self.with_index(|index| index.find(thread, archived))
    }

    fn segment(&self, id: Uuid) -> Result<Option<PathBuf>> {
        self.with_index(|index| index.segment(id))
    }

    fn summary(&self, thread: Uuid) -> Result<Option<Summary>> {
        self.with_index(|index| index.get(thread))
    }

    fn list(&self, query: &Query) -> Result<Page> {
        self.with_index(|index| index.page(query, self.touched.take()))
    }

    /// A log of this process that is open on the thread goes on writing to it.
    fn archive(&self, thread: Uuid) -> Result<PathBuf> {
        let mut files = self.with_index(|index| index.files(thread, false))?;
        // The newest is the thread; while it is in the lists, the others may be anywhere.
        files.reverse();
        let mut moved = Err(Error::NotFound(thread));
        for path in files {
            let name = path.file_name().unwrap_or_default();
            moved = Ok(self.relocate(&path, self.path.join(ARCHIVED).join(name))?);
        }
        moved
    }

    fn unarchive(&self, thread: Uuid) -> Result<PathBuf> {
        let files = self.with_index(|index| index.files(thread, true))?;
        let mut newest = None;
        for path in files {
            let name = RolloutName::of(&path).ok_or(Error::NotArchived(thread))?;
            let to = self.path.join(name.day_dir()).join(name.file_name());
            newest.get_or_insert(self.relocate(&path, to)?);
        }
        let path = newest.ok_or(Error::NotArchived(thread))?;
        let touched = File::options()
            .append(true)
            .open(&path)
            .and_then(|f| f.set_modified(SystemTime::now()));
        touched.map_err(|source| Error::io("touch", &path, source))?;
        self.touched.add(&path);
        Ok(path)
    }

    fn delete(&self, thread: Uuid) -> Result<()> {
        let mut files = self.with_index(|index| index.files(thread, false))?;
        files.extend(self.with_index(|index| index.files(thread, true))?);
        if files.is_empty() {
            return Err(Error::NotFound(thread));
        }
        for path in files {
            fs::remove_file(&path).map_err(|source| Error::io("delete", &path, source))?;
            self.touched.add(&path);
        }
        self.events(thread).remove()
    }

    fn set_name(&self, thread: Uuid, name: &str) -> Result<()> {
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
                id: thread,
                thread_name: name,
                updated_at,
            },
        )
    }

    fn set_git(&self, thread: Uuid, git: &GitInfo) -> Result<()> {
        #[derive(Serialize)]
        struct Line<'a> {
            id: Uuid,
            git: &'a GitInfo,
            updated_at: String,
        }
        self.add_line(
            GIT,
            &Line {
                id: thread,
                git,
                updated_at: time::stamp(SystemTime::now()),
            },
        )
    }

    fn kept(&self, thread: Option<Uuid>, name: &'static str) -> Result<Option<String>> {
        let path = self.kept_path(thread, name);
        match quipu_disk::read_text(&path, MAX_KEPT) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("read", &path, error)),
        }
    }

    fn keep(&self, thread: Option<Uuid>, name: &'static str, text: Option<&str>) -> Result<bool> {
        let path = self.kept_path(thread, name);
        let failed = |error| Error::io("write", &path, error);
        let Some(text) = text else {
            return match fs::remove_file(&path) {
                Ok(()) => Ok(true),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
                Err(error) => Err(failed(error)),
            };
        };
        let was_kept = path.exists();
        let target = self.lock_kept(&path, name)?;
        target.replace(text.as_bytes()).map_err(failed)?;
        Ok(was_kept)
    }

    fn keep_lightly(&self, thread: Uuid, name: &'static str, text: &str) -> Result<()> {
        let path = self.kept_path(Some(thread), name);
        let failed = |error| Error::io("write", &path, error);
        quipu_disk::private_dirs(&self.path, Path::new(name)).map_err(failed)?;
        quipu_disk::put(&path, text.as_bytes()).map_err(failed)
    }

    fn keep_if(
        &self,
        thread: Option<Uuid>,
        name: &'static str,
        old: Option<&str>,
        text: &str,
    ) -> Result<bool> {
        let path = self.kept_path(thread, name);
        let target = self.lock_kept(&path, name)?;
        if self.kept(thread, name)?.as_deref() != old {
            return Ok(false);
        }
        let replaced = target.replace(text.as_bytes());
        replaced.map_err(|error| Error::io("write", &path, error))?;
        Ok(true)
    }

    fn kept_threads(&self, name: &'static str) -> Result<Vec<Uuid>> {
        let directory = self.path.join(name);
        let failed = |error| Error::io("read", &directory, error);
        let files = match fs::read_dir(&directory) {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut threads = Vec::new();
        for file in files {
            let name = file.map_err(failed)?.file_name();
            let id = name.to_str().and_then(|name| name.strip_suffix(".json"));
            threads.extend(id.and_then(|id| Uuid::parse_str(id).ok()));
        }
        Ok(threads)
    }

    fn events(&self, thread: Uuid) -> Box<dyn EventStore> {
        Box::new(EventFile::new(&self.path, thread))
    }

    fn next_epoch(&self, _: Uuid, used: u64) -> Result<u64> {
        event_file::next_epoch(&self.path, used)
    }

    fn begin_request(&self, request: KeyedRequest) -> Result<KeyedRequest> {
        self.requests.begin(request)
    }

    fn request_done(&self, request: KeyedRequest) -> Result<()> {
        self.requests.done(request)
    }
}

fn write_whole(path: &Path, fill: &mut Fill<'_>) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let file = platform::private_file(&mut options).open(path)?;
    let mut to = BufWriter::with_capacity(64 << 10, &file);
    fill(&mut to)?;
    to.flush()?;
    drop(to);
    file.sync_all()
}

impl Lease for Writer {}

impl RolloutSource for File {
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        platform::read_at(self, buffer, at)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn modified(&self) -> io::Result<SystemTime> {
        self.metadata()?.modified()
    }
}

/// A rollout file; what is written to it is remembered for the next list.
#[derive(Debug)]
struct RolloutFile {
    file: AppendFile,
    touched: Arc<Touched>,
}

impl RolloutSink for RolloutFile {
    fn path(&self) -> &Path {
        self.file.path()
    }

    fn exists(&self) -> bool {
        self.file.exists()
    }

    fn append(&mut self, lines: &[u8]) -> Result<()> {
        self.file.append(lines)?;
        self.touched.add(self.file.path());
        Ok(())
    }

    fn next_ordinal(&mut self, first: u64) -> Result<u64> {
        self.file.next_ordinal(first)
    }

    fn sync(&mut self) -> Result<()> {
        self.file.sync()
    }

    fn close(&mut self) -> Result<()> {
        self.file.close()
    }

    fn keep_reserve(&mut self) {
        self.file.keep_reserve();
    }

    fn ensure_reserve(&mut self) -> Result<()> {
        self.file.ensure_reserve()
    }

    fn has_reserve(&self) -> bool {
        self.file.has_reserve()
    }

    fn append_reserved(&mut self, lines: &[u8]) -> Result<()> {
        self.file.append_reserved(lines)?;
        self.touched.add(self.file.path());
        Ok(())
    }
}
