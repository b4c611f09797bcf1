//! What is remembered, in small files: one per issue, one per day. Each is written in one step; of several versions
//! that wait to be written only the last one is.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::{Notify, oneshot};

use crate::record::{Day, Places, Record, Records};
use crate::time::{self, Millis};

/// The longest file that is read.
const MAX_BYTES: u64 = 4 << 20;

/// The files of one service.
#[derive(Clone, Debug)]
pub struct Store {
    places: Places,
    queue: Arc<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: Mutex<BTreeMap<PathBuf, Waiting>>,
    /// Who waits until nothing is left to be written.
    flushes: Mutex<Vec<oneshot::Sender<()>>>,
    more: Notify,
}

/// A file to be written, and who waits for it.
#[derive(Debug)]
struct Waiting {
    content: Vec<u8>,
    waiters: Vec<oneshot::Sender<Result<(), String>>>,
}

impl Store {
    /// Makes the directories, which are their owner's only, and begins to write.
    pub fn open(places: Places) -> io::Result<Store> {
        for below in ["issues", "days", "logs", "patches"] {
            quipu_disk::private_dirs(&places.root, Path::new(below))?;
        }
        let store = Store {
            places,
            queue: Arc::default(),
        };
        tokio::spawn(write_all(Arc::clone(&store.queue)));
        Ok(store)
    }

    #[must_use]
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// Stores a record some time soon.
    pub fn save(&self, record: &Record) {
        self.put(self.places.issue(&record.identifier), record, None);
    }

    /// Stores a record, and waits until it is stored.
    pub async fn save_now(&self, record: &Record) -> Result<(), String> {
        let (done, stored) = oneshot::channel();
        self.put(self.places.issue(&record.identifier), record, Some(done));
        let stopped = |_| Err("the service is stopping".to_owned());
        stored.await.unwrap_or_else(stopped)
    }

    pub fn save_day(&self, day: &Day) {
        self.put(self.places.day(&day.date), day, None);
    }

    /// Waits until everything is written that was saved before.
    pub async fn flush(&self) {
        let (done, written) = oneshot::channel();
        self.queue.flushes.lock().push(done);
        self.queue.more.notify_one();
        // What could not be written was logged.
        written.await.ok();
    }

    fn put(
        &self,
        path: PathBuf,
        value: &impl Serialize,
        waiter: Option<oneshot::Sender<Result<(), String>>>,
    ) {
        let mut content = serde_json::to_vec_pretty(value).unwrap_or_default();
        content.push(b'\n');
        let mut waiting = self.queue.waiting.lock();
        let entry = waiting.entry(path).or_insert_with(|| Waiting {
            content: Vec::new(),
            waiters: Vec::new(),
        });
        entry.content = content;
        entry.waiters.extend(waiter);
        drop(waiting);
        self.queue.more.notify_one();
    }
}

async fn write_all(queue: Arc<Queue>) {
    loop {
        let next = queue.waiting.lock().pop_first();
        let Some((path, waiting)) = next else {
            for done in queue.flushes.lock().drain(..) {
                // The caller may have stopped waiting.
                done.send(()).ok();
            }
            queue.more.notified().await;
            continue;
        };
        let Waiting { content, waiters } = waiting;
        let shown = path.display().to_string();
        let written =
            tokio::task::spawn_blocking(move || quipu_disk::Target::lock(&path)?.replace(&content));
        let written = match written.await {
            Ok(written) => written.map_err(|error| format!("cannot write {shown}: {error}")),
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = &written {
            tracing::error!(error, "state not stored");
        }
        for waiter in waiters {
            // The caller may have stopped waiting.
            waiter.send(written.clone()).ok();
        }
    }
}

/// What becomes of a file that cannot be read.
pub type Unreadable = fn(&Path, &str);

/// Everything that is remembered.
pub fn load(places: &Places, unreadable: Unreadable) -> io::Result<Records> {
    let mut records = Records::new();
    let entries = match fs::read_dir(places.root.join("issues")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(records),
        entries => entries?,
    };
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_none_or(|it| it != "json") {
            continue;
        }
        match read::<Record>(&path) {
            Ok(record) => drop(records.insert(record.issue_id.clone(), record)),
            Err(error) => unreadable(&path, &error),
        }
    }
    Ok(records)
}

/// What the present day has cost so far.
#[must_use]
pub fn load_day(places: &Places, now: Millis, unreadable: Unreadable) -> Day {
    let path = places.day(&time::day(now));
    match read::<Day>(&path) {
        Ok(day) => day,
        Err(error) => {
            if path.exists() {
                unreadable(&path, &error);
            }
            Day::of(now)
        }
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, String> {
    let bytes = quipu_disk::read(path, MAX_BYTES).map_err(|error| error.to_string())?;
    serde_json::from_slice(&bytes).map_err(|error| error.to_string())
}

/// Leaves a file that cannot be read where it is, for those who only look.
pub fn leave(path: &Path, error: &str) {
    tracing::warn!(path = %path.display(), error, "stored state cannot be read");
}

/// Puts a file that cannot be read aside, for the service, which will write another.
pub fn put_aside(path: &Path, error: &str) {
    let aside = path.with_extension("unreadable");
    tracing::error!(path = %path.display(), error, "stored state cannot be read and is put aside");
    // If it cannot be renamed either, it is met again at the next start.
    fs::rename(path, aside).ok();
}
