//! The numbered events of threads at rest: what clients were notified of, for those that were away.
//!
//! A number is an epoch and a counter in it. A thread takes a new epoch whenever it is loaded, and an epoch is on disk
//! before it is used, so no number is given out twice although counting costs no writes. One file per thread has the
//! events that are worth keeping, in the order of their numbers. It is not the truth about the thread, which is its
//! rollout; it says which part of that clients have seen.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::backend::EventStore;
use crate::error::{Error, Result};

/// Events of one thread that are kept, in bytes. When there are more, the older half is dropped.
const MAX_BYTES: usize = 1 << 20;
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
    /// The numbers of an epoch.
    pub(crate) fn of_epoch(epoch: u64) -> Result<Numbers> {
        if epoch >= MAX_EPOCHS {
            return Err(Error::NoEpochs);
        }
        Ok(Numbers {
            last: epoch * EPOCH,
            end: (epoch + 1) * EPOCH,
        })
    }

    /// The epoch that a number is of.
    pub(crate) fn epoch(number: u64) -> u64 {
        number / EPOCH
    }

    /// Numbers after others of a thread that lives in memory only.
    pub fn after(used: u64) -> Result<Numbers> {
        Numbers::of_epoch(Numbers::epoch(used) + 1)
    }

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

/// The events of one thread. One process at a time writes to them: the one that writes to the thread.
#[derive(Debug)]
pub struct EventLog {
    id: Uuid,
    store: Box<dyn EventStore>,
    /// The length of what is stored, once it is known.
    bytes: usize,
    /// The first line, until it is written.
    header: Option<Before>,
}

impl EventLog {
    pub(crate) fn new(id: Uuid, store: Box<dyn EventStore>) -> EventLog {
        EventLog {
            id,
            store,
            bytes: 0,
            header: None,
        }
    }

    /// The thread that they are of.
    #[must_use]
    pub fn thread(&self) -> Uuid {
        self.id
    }

    /// Whether there are events of the thread.
    pub fn exists(&self) -> Result<bool> {
        self.store.exists()
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
        let Some(bytes) = self.store.read()? else {
            return Ok(None);
        };
        self.bytes = bytes.len();
        let mut lines = bytes.split(|byte| *byte == b'\n');
        let header = lines.next().and_then(|it| serde_json::from_slice(it).ok());
        let Some(before) = header else {
            // Nothing says what is missing in it, so it counts for nothing.
            tracing::warn!(thread = %self.id, "events without their first line are dropped");
            self.store.remove()?;
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
            let mut first = serde_json::to_vec(header).map_err(Error::Encode)?;
            first.push(b'\n');
            first.extend_from_slice(lines);
            self.store.begin(&first)?;
            self.header = None;
            self.bytes = first.len();
        } else {
            self.store.append(lines)?;
            self.bytes += lines.len();
        }
        if self.bytes > MAX_BYTES {
            self.trim()?;
        }
        Ok(())
    }

    /// Gives back what being open takes; the next event opens it again.
    pub fn rest(&mut self) -> Result<()> {
        self.store.close()
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
        self.store.replace(&text)?;
        self.bytes = text.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::event_file::{EventFile, next_epoch};
    use crate::layout;

    fn events(home: &Path) -> EventLog {
        let store = EventFile::new(home, Uuid::nil());
        EventLog::new(Uuid::nil(), Box::new(store))
    }

    fn numbers(home: &Path, used: u64) -> Result<Numbers> {
        Numbers::of_epoch(next_epoch(home, Numbers::epoch(used))?)
    }

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
        let mut log = events(home.path());
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
        let mut again = events(home.path());
        let stored = again.read().unwrap().unwrap();
        assert_eq!(stored.last_turn(), ("a", false));
        let path = home.path().join(layout::EVENTS);
        let path = path.join(format!("{}.jsonl", Uuid::nil()));
        let size = fs::metadata(path).unwrap().len();
        assert!(size <= 2 * MAX_BYTES as u64);
    }

    #[test]
    fn a_line_that_was_cut_short_costs_only_itself() {
        let home = tempfile::tempdir().unwrap();
        let mut log = events(home.path());
        log.begin(before());
        log.append(line(11, "error", "a", 0).as_bytes()).unwrap();
        log.append(&line(12, "error", "a", 0).as_bytes()[..20])
            .unwrap();
        let mut log = events(home.path());
        log.append(line(13, "error", "a", 0).as_bytes()).unwrap();
        let stored = log.read().unwrap().unwrap();
        let numbers: Vec<u64> = stored.events.iter().map(|it| it.seq).collect();
        assert_eq!(numbers, [11, 13]);
    }

    #[test]
    fn no_number_is_given_twice() {
        let home = tempfile::tempdir().unwrap();
        let mut one = numbers(home.path(), 0).unwrap();
        let mut other = numbers(home.path(), 0).unwrap();
        let last = std::iter::from_fn(|| one.take()).last().unwrap();
        assert!(last <= other.last && other.take().unwrap() > last);
        // Also if the file that counts them is lost.
        fs::remove_file(home.path().join(layout::EVENTS).join("epoch")).unwrap();
        assert!(numbers(home.path(), other.last).unwrap().last > other.last);
        fs::write(home.path().join(layout::EVENTS).join("epoch"), "?").unwrap();
        assert!(numbers(home.path(), 0).is_err());
    }
}
