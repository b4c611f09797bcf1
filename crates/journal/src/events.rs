//! The numbered events of threads at rest: what clients were notified of, for those that were away.
//!
//! A number is an epoch and a counter in it. A thread takes a new epoch whenever it is loaded, and an epoch is on disk
//! before it is used, so no number is given out twice although counting costs no writes. One file per thread has the
//! events that are worth keeping, in the order of their numbers. It is not the truth about the thread, which is its
//! rollout; it says which part of that clients have seen.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use quipu_disk::Target;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::append::{AppendFile, Expect};
use crate::error::{Error, Result};
use crate::layout::EVENTS;

/// Events of one thread that are kept, in bytes. When there are more, the older half is dropped.
const MAX_BYTES: usize = 1 << 20;
/// The longest file that is read: what is kept, and one event of any length.
const MAX_FILE: u64 = 64 << 20;
/// Numbers per epoch: few enough that numbers stay below 2⁵³, which every client can count to.
const EPOCH: u64 = 1 << 22;
/// The number of epochs that fit.
const MAX_EPOCHS: u64 = 1 << 31;

/// The numbers that a loaded thread may give to its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers {
    /// The last number that was given.
    pub last: u64,
    end: u64,
}

impl Numbers {
    /// The next number; none when the epoch is used up.
    pub fn take(&mut self) -> Option<u64> {
        if self.last + 1 >= self.end {
            return None;
        }
        self.last += 1;
        Some(self.last)
    }
}

/// One stored event.
#[derive(Debug, Clone)]
pub struct StoredEvent {
    pub seq: u64,
    /// The notification as clients got it.
    pub message: Vec<u8>,
    pub method: String,
    /// The turn it is about.
    pub turn: Option<String>,
    /// The type and id of the item it is about.
    pub item: Option<(String, String)>,
}

/// The stored events of one thread.
#[derive(Debug)]
pub struct StoredEvents {
    pub before: Before,
    pub events: Vec<StoredEvent>,
}

impl StoredEvents {
    /// The last number that is known to be used.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.events.last().map_or(self.before.after, |it| it.seq)
    }

    /// The last turn that began, and whether it is still open.
    #[must_use]
    pub fn last_turn(&self) -> (&str, bool) {
        let before = (self.before.turn.as_str(), self.before.is_open);
        self.events.iter().fold(before, |last, event| {
            match (event.method.as_str(), &event.turn) {
                ("turn/started", Some(turn)) => (turn, true),
                ("turn/completed", Some(turn)) if turn == last.0 => (last.0, false),
                _ => last,
            }
        })
    }
}

/// The first line of a file: what came before it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Before {
    /// Every event after this number is stored.
    pub after: u64,
    /// The last turn that began; any id of that time if it is not known.
    pub turn: String,
    /// Whether that turn was running.
    pub is_open: bool,
}

/// What is read of an event.
#[derive(Deserialize)]
struct Line {
    method: String,
    params: Params,
    quipu: Number,
}

#[derive(Deserialize)]
struct Number {
    seq: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    turn: Option<Named>,
    turn_id: Option<String>,
    item: Option<Named>,
}

#[derive(Deserialize)]
struct Named {
    id: String,
    #[serde(rename = "type", default)]
    kind: String,
}

/// The file with the events of one thread. One process at a time writes to it: the one that writes to the thread.
#[derive(Debug)]
pub struct EventLog {
    path: PathBuf,
    file: AppendFile,
    /// The length of the file, once it is known.
    bytes: usize,
    /// The first line, until it is written.
    header: Option<Before>,
}

impl EventLog {
    pub(crate) fn new(home: &Path, id: Uuid) -> EventLog {
        let path = home.join(EVENTS).join(format!("{id}.jsonl"));
        EventLog {
            file: AppendFile::new(path.clone(), Expect::Either),
            path,
            bytes: 0,
            header: None,
        }
    }

    /// Whether there are events of the thread.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.path.exists()
    }

    /// Starts over with the events that come after this. Nothing is written before the first one.
    pub fn begin(&mut self, before: Before) {
        self.header = Some(before);
    }

    /// Reads the events; none if there are none yet.
    pub fn read(&mut self) -> Result<Option<StoredEvents>> {
        if self.header.is_some() {
            return Ok(None);
        }
        let bytes = match quipu_disk::read(&self.path, MAX_FILE) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("read", &self.path, error)),
        };
        self.bytes = bytes.len();
        let mut lines = bytes.split(|byte| *byte == b'\n');
        let header = lines.next().and_then(|it| serde_json::from_slice(it).ok());
        let Some(before) = header else {
            // Nothing says what is missing in it, so it counts for nothing.
            tracing::warn!(path = %self.path.display(), "events without their first line are dropped");
            remove_file(&self.path)?;
            return Ok(None);
        };
        // A line that a crash has cut short was not seen by any client.
        let events = lines.filter_map(|line| {
            let read: Line = serde_json::from_slice(line).ok()?;
            let Params {
                turn,
                turn_id,
                item,
            } = read.params;
            Some(StoredEvent {
                seq: read.quipu.seq,
                message: line.to_vec(),
                method: read.method,
                turn: turn.map(|it| it.id).or(turn_id),
                item: item.map(|it| (it.kind, it.id)),
            })
        });
        let events = events.collect();
        Ok(Some(StoredEvents { before, events }))
    }

    /// Adds events, each a line; they survive the end of this process when this returns. Without any, at least the file is
    /// there.
    pub fn append(&mut self, lines: &[u8]) -> Result<()> {
        if lines.is_empty() && self.header.is_none() {
            return Ok(());
        }
        if let Some(header) = &self.header {
            remove_file(&self.path)?;
            self.file = AppendFile::new(self.path.clone(), Expect::Either);
            let mut first = serde_json::to_vec(header).map_err(Error::Encode)?;
            first.push(b'\n');
            first.extend_from_slice(lines);
            self.file.append(&first)?;
            self.header = None;
            self.bytes = first.len();
        } else {
            self.file.append(lines)?;
            self.bytes += lines.len();
        }
        if self.bytes > MAX_BYTES {
            self.trim()?;
        }
        Ok(())
    }

    /// Makes what was added survive the end of the machine.
    pub fn sync(&mut self) -> Result<()> {
        self.file.sync()
    }

    /// Gives the descriptor back; the next event opens the file again.
    pub fn rest(&mut self) -> Result<()> {
        self.file.close()
    }

    /// Drops the older half, and at least one event.
    fn trim(&mut self) -> Result<()> {
        let Some(mut stored) = self.read()? else {
            return Ok(());
        };
        let (mut bytes, mut first) = (0, stored.events.len());
        while let Some(event) = first.checked_sub(1).map(|it| &stored.events[it]) {
            bytes += event.message.len() + 1;
            if bytes > MAX_BYTES / 2 {
                break;
            }
            first -= 1;
        }
        let kept = stored.events.split_off(first);
        let (turn, is_open) = stored.last_turn();
        let before = Before {
            after: stored.last(),
            turn: turn.to_owned(),
            is_open,
        };
        let mut text = serde_json::to_vec(&before).map_err(Error::Encode)?;
        text.push(b'\n');
        for event in &kept {
            text.extend_from_slice(&event.message);
            text.push(b'\n');
        }
        self.file.close()?;
        let replaced = Target::lock(&self.path).and_then(|target| target.replace(&text));
        replaced.map_err(|error| Error::io("write", &self.path, error))?;
        self.file = AppendFile::new(self.path.clone(), Expect::Either);
        self.bytes = text.len();
        Ok(())
    }
}

/// Removes the events of a thread that is deleted.
pub(crate) fn remove(home: &Path, id: Uuid) -> Result<()> {
    remove_file(&EventLog::new(home, id).path)
}

fn remove_file(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::io("delete", path, error))
        }
        _ => Ok(()),
    }
}

/// Takes the numbers of a new epoch, all of them above `used`. They are on disk as taken when this returns.
pub(crate) fn next_epoch(home: &Path, used: u64) -> Result<Numbers> {
    let path = home.join(EVENTS).join("epoch");
    let failed = |error| Error::io("write", &path, error);
    quipu_disk::private_dirs(home, Path::new(EVENTS)).map_err(failed)?;
    let target = Target::lock(&path).map_err(failed)?;
    let stored = match quipu_disk::read_text(&path, 64) {
        Ok(text) => text.trim().parse().map_err(|_| {
            let why = "it is not a number; delete it if no client waits to resume";
            failed(io::Error::new(io::ErrorKind::InvalidData, why))
        })?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => return Err(Error::io("read", &path, error)),
    };
    let epoch = (used / EPOCH).max(stored) + 1;
    if epoch >= MAX_EPOCHS {
        return Err(failed(io::Error::other("there are no more epochs")));
    }
    target
        .replace(format!("{epoch}\n").as_bytes())
        .map_err(failed)?;
    Ok(Numbers {
        last: epoch * EPOCH,
        end: (epoch + 1) * EPOCH,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(seq: u64, method: &str, turn: &str, padding: usize) -> String {
        let padding = "x".repeat(padding);
        format!(
            "{{\"method\":\"{method}\",\"params\":{{\"turn\":{{\"id\":\"{turn}\"}},\"p\":\"{padding}\"}},\"quipu\":{{\"seq\":{seq}}}}}\n"
        )
    }

    fn before() -> Before {
        Before {
            after: 10,
            turn: "before".to_owned(),
            is_open: false,
        }
    }

    #[test]
    fn old_events_are_dropped_and_it_is_known_which() {
        let home = tempfile::tempdir().unwrap();
        let mut log = EventLog::new(home.path(), Uuid::nil());
        log.begin(before());
        assert!(log.read().unwrap().is_none());
        log.append(line(11, "turn/started", "a", 0).as_bytes())
            .unwrap();
        for seq in 12..30 {
            log.append(line(seq, "error", "a", 64 << 10).as_bytes())
                .unwrap();
        }
        let stored = log.read().unwrap().unwrap();
        assert!(stored.before.after > 11, "{:?}", stored.before);
        assert_eq!(stored.events[0].seq, stored.before.after + 1);
        assert_eq!((stored.last(), stored.last_turn()), (29, ("a", true)));
        log.append(line(30, "turn/completed", "a", 0).as_bytes())
            .unwrap();
        let mut again = EventLog::new(home.path(), Uuid::nil());
        let stored = again.read().unwrap().unwrap();
        assert_eq!(stored.last_turn(), ("a", false));
        let size = fs::metadata(&log.path).unwrap().len();
        assert!(size <= 2 * MAX_BYTES as u64);
    }

    #[test]
    fn a_line_that_was_cut_short_costs_only_itself() {
        let home = tempfile::tempdir().unwrap();
        let mut log = EventLog::new(home.path(), Uuid::nil());
        log.begin(before());
        log.append(line(11, "error", "a", 0).as_bytes()).unwrap();
        log.append(&line(12, "error", "a", 0).as_bytes()[..20])
            .unwrap();
        let mut log = EventLog::new(home.path(), Uuid::nil());
        log.append(line(13, "error", "a", 0).as_bytes()).unwrap();
        let stored = log.read().unwrap().unwrap();
        let numbers: Vec<u64> = stored.events.iter().map(|it| it.seq).collect();
        assert_eq!(numbers, [11, 13]);
    }

    #[test]
    fn no_number_is_given_twice() {
        let home = tempfile::tempdir().unwrap();
        let mut one = next_epoch(home.path(), 0).unwrap();
        let mut other = next_epoch(home.path(), 0).unwrap();
        let last = std::iter::from_fn(|| one.take()).last().unwrap();
        assert!(last <= other.last && other.take().unwrap() > last);
        // Also if the file that counts them is lost.
        fs::remove_file(home.path().join(EVENTS).join("epoch")).unwrap();
        assert!(next_epoch(home.path(), other.last).unwrap().last > other.last);
        fs::write(home.path().join(EVENTS).join("epoch"), "?").unwrap();
        assert!(next_epoch(home.path(), 0).is_err());
    }
}
