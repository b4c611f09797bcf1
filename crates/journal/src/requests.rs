//! The requests that clients made safe to repeat with a key of their own, so that each acts once, also after a restart.
//!
//! An entry is written before its request acts and names what the act will make, by an id that is chosen before. Whoever
//! finds an entry that is not done looks for that id: if it is there, the request has acted; if not, it acts now, with the
//! same id. So a crash at any moment leaves nothing undecided.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use quipu_disk::Target;
use serde::{Deserialize, Serialize};

use crate::append::{AppendFile, Expect};
use crate::error::{Error, Result};
use crate::layout::REQUESTS;
use crate::platform;

/// How long a key is known, in seconds.
pub const MAX_AGE: i64 = 24 * 60 * 60;
/// How many keys are known; the oldest are forgotten first.
const MAX_KEYS: usize = 10_000;
/// Lines of the file after which it is rewritten.
const MAX_LINES: usize = 3 * MAX_KEYS;

/// A request with a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyedRequest {
    pub key: String,
    /// Method and params, as a digest.
    pub digest: String,
    /// What it makes or made: the id of a thread or a turn.
    pub made: String,
    /// Whether it has acted for certain.
    #[serde(default)]
    pub done: bool,
    /// When it came, in Unix seconds.
    pub at: i64,
}

/// The keys of one home. Other processes may add to them.
#[derive(Debug)]
pub(crate) struct Requests {
    path: PathBuf,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    entries: HashMap<String, KeyedRequest>,
    /// Keys in the order in which they came.
    order: VecDeque<String>,
    /// The file, read as far as this.
    file: Option<File>,
    read: u64,
    lines: usize,
}

impl Requests {
    pub fn new(home: &Path) -> Requests {
        Requests {
            path: home.join(REQUESTS),
            known: Mutex::default(),
        }
    }

    /// Begins a request: gives the one that was made before with its key, or stores this one and gives it back.
    pub fn begin(&self, request: KeyedRequest) -> Result<KeyedRequest> {
        let mut known = self.known.lock();
        self.refresh(&mut known, request.at)?;
        if let Some(known) = known.entries.get(&request.key) {
            return Ok(known.clone());
        }
        self.add(&mut known, &request)?;
        Ok(request)
    }

    /// Stores that a request has acted.
    pub fn done(&self, request: KeyedRequest) -> Result<()> {
        let mut known = self.known.lock();
        let done = true;
        self.add(&mut known, &KeyedRequest { done, ..request })
    }

    /// Adds a line; it survives the end of this process when this returns.
    fn add(&self, known: &mut Known, request: &KeyedRequest) -> Result<()> {
        let mut line = serde_json::to_vec(request).map_err(Error::Encode)?;
        line.push(b'\n');
        AppendFile::new(self.path.clone(), Expect::Either).append(&line)?;
        self.refresh(known, request.at)?;
        if known.lines > MAX_LINES {
            self.compact(known)?;
        }
        Ok(())
    }

    /// Reads what was added, and forgets what is too old.
    fn refresh(&self, known: &mut Known, now: i64) -> Result<()> {
        let failed = |error| Error::io("read", &self.path, error);
        let is_current = |file: &File| platform::is_at(file, &self.path).unwrap_or(false);
        if !known.file.as_ref().is_some_and(is_current) {
            *known = Known::default();
            known.file = match quipu_disk::open(&self.path) {
                Ok(file) => Some(file),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(error) => return Err(failed(error)),
            };
        }
        if let Some(mut file) = known.file.as_ref() {
            let mut added = Vec::new();
            file.seek(SeekFrom::Start(known.read))
                .and_then(|_| file.read_to_end(&mut added))
                .map_err(failed)?;
            let whole = added.iter().rposition(|byte| *byte == b'\n');
            let whole = whole.map_or(0, |last| last + 1);
            known.read += whole as u64;
            let lines = added[..whole].split(|byte| *byte == b'\n');
            for line in lines.filter(|line| !line.is_empty()) {
                known.lines += 1;
                // A line that a crash has cut short belongs to a request that has not acted.
                if let Ok(request) = serde_json::from_slice(line) {
                    known.add(request);
                }
            }
        }
        known.forget(now);
        Ok(())
    }

    /// Rewrites the file with what is known.
    fn compact(&self, known: &mut Known) -> Result<()> {
        let mut text = Vec::new();
        for request in known.order.iter().filter_map(|key| known.entries.get(key)) {
            serde_json::to_writer(&mut text, request).map_err(Error::Encode)?;
            text.push(b'\n');
        }
        let replaced = Target::lock(&self.path).and_then(|target| target.replace(&text));
        replaced.map_err(|error| Error::io("write", &self.path, error))?;
        // The next one to look reads the new file.
        known.file = None;
        Ok(())
    }
}

impl Known {
    fn add(&mut self, request: KeyedRequest) {
        let key = request.key.clone();
        if self.entries.insert(key.clone(), request).is_none() {
            self.order.push_back(key);
        }
    }

    fn forget(&mut self, now: i64) {
        while let Some(key) = self.order.front() {
            let entry = self.entries.get(key);
            let is_old = entry.is_none_or(|it| it.at.saturating_add(MAX_AGE) < now);
            if !is_old && self.order.len() <= MAX_KEYS {
                return;
            }
            self.entries.remove(key);
            self.order.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(key: &str, at: i64) -> KeyedRequest {
        KeyedRequest {
            key: key.to_owned(),
            digest: "digest".to_owned(),
            made: format!("made by {key}"),
            done: false,
            at,
        }
    }

    #[test]
    fn keys_are_found_by_others_and_forgotten_by_age_and_number() {
        let home = tempfile::tempdir().unwrap();
        let (one, other) = (Requests::new(home.path()), Requests::new(home.path()));
        assert_eq!(one.begin(request("a", 0)).unwrap(), request("a", 0));
        assert_eq!(other.begin(request("a", 9)).unwrap(), request("a", 0));
        other.done(request("a", 0)).unwrap();
        let done = KeyedRequest {
            done: true,
            ..request("a", 0)
        };
        assert_eq!(one.begin(request("a", MAX_AGE)).unwrap(), done);
        let late = request("a", MAX_AGE + 1);
        assert_eq!(one.begin(late.clone()).unwrap(), late);
    }

    #[test]
    fn the_file_stays_small() {
        let home = tempfile::tempdir().unwrap();
        let requests = Requests::new(home.path());
        for number in 0..=MAX_LINES {
            requests.begin(request(&number.to_string(), 0)).unwrap();
        }
        let text = std::fs::read_to_string(home.path().join(REQUESTS)).unwrap();
        assert!(text.lines().count() <= MAX_KEYS);
        let last = MAX_LINES.to_string();
        assert_eq!(
            requests.begin(request(&last, 5)).unwrap(),
            request(&last, 0)
        );
        assert_eq!(requests.begin(request("0", 5)).unwrap(), request("0", 5));
    }
}
