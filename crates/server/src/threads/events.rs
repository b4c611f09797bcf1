//! The numbered events of a thread, for clients that asked for them in `initialize`: what they were notified of, the
//! recent part in memory and the part that is worth keeping in the store, so that a client that was away can go on where
//! it left off. Nothing of this is done for a thread that such a client never followed.

use std::collections::VecDeque;
use std::io::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use quipu_journal::{Before, Error, EventLog, Numbers};
use quipu_rpc::Share;
use quipu_wire::{EventReplay, ServerNotification, Thread, ThreadEvents, TurnStatus};
use uuid::Uuid;

use super::audience;
use super::catch_up;
use crate::Server;
use crate::hub::Client;

/// What a thread keeps in memory of its events, in bytes.
const MAX_RECENT_BYTES: usize = 512 << 10;
/// And in number; with the stored ones, it fits into what may wait to be sent to a client.
const MAX_RECENT: usize = 4096;
/// What may wait for a store that fails, in bytes. Beyond that the events start over, and older ones count as unknown.
const MAX_UNSTORED: usize = 1 << 20;

/// The events of one thread, numbered or not.
pub(super) struct Events {
    server: Arc<Server>,
    id: Uuid,
    /// Whether the thread is stored.
    is_stored: bool,
    numbered: Option<Box<Numbered>>,
    /// The turn that runs.
    running: Option<String>,
}

/// What a client that resumes gets.
pub(crate) struct CatchUp {
    pub position: ThreadEvents,
    /// The events that it missed.
    pub missed: VecDeque<Bytes>,
}

/// Another server has taken the thread over, so nothing may be sent about it here.
pub(super) struct LostThread;

struct Numbered {
    numbers: Numbers,
    /// None for a thread that is not stored.
    log: Option<EventLog>,
    /// Lines for the log. They are stored before anything is sent.
    unstored: Vec<u8>,
    recent: VecDeque<Recent>,
    recent_bytes: usize,
    share: Option<Share>,
    /// Every event after this number is among the recent ones.
    since: u64,
}

struct Recent {
    seq: u64,
    message: Bytes,
}

impl Events {
    /// The events of a thread that was just loaded; numbered from the start if there are stored ones.
    pub fn new(server: &Arc<Server>, thread: &Thread, is_stored: bool) -> Events {
        let mut events = Events {
            server: Arc::clone(server),
            id: Uuid::try_parse(&thread.id).unwrap_or_default(),
            is_stored,
            numbered: None,
            running: running(thread),
        };
        // If that is not known, opening them reports why.
        let exist = || server.store.events(events.id).exists().unwrap_or(true);
        if is_stored && exist() {
            events.begin(thread);
        }
        events
    }

    /// Numbers the events from now on, if that is not done yet.
    pub fn begin(&mut self, thread: &Thread) {
        if self.numbered.is_some() {
            return;
        }
        match tokio::task::block_in_place(|| self.open(thread)) {
            Ok(numbered) => self.numbered = Some(Box::new(numbered)),
            Err(error) => {
                tracing::error!(thread = %self.id, %error, "events are not numbered");
            }
        }
    }

    fn open(&self, thread: &Thread) -> quipu_journal::Result<Numbered> {
        let store = &self.server.store;
        let mut log = self.is_stored.then(|| store.events(self.id));
        let stored = log.as_mut().map(EventLog::read).transpose()?.flatten();
        let used = stored.as_ref().map_or(0, |it| it.last());
        let numbers = match self.is_stored {
            true => store.next_epoch(self.id, used)?,
            false => Numbers::after(used)?,
        };
        let mut numbered = Numbered {
            since: numbers.last,
            numbers,
            log,
            unstored: Vec::new(),
            recent: VecDeque::new(),
            recent_bytes: 0,
            share: None,
        };
        match stored {
            Some(stored) => {
                for notification in catch_up::missing(&stored, thread) {
                    numbered.add_to_log(&self.server, &notification)?;
                }
                numbered.since = numbered.numbers.last;
                // If another server has the thread by now, the first record reports it.
                numbered.store(self.id).ok();
            }
            None => {
                if let Some(log) = &mut numbered.log {
                    log.begin(before(numbers, self.running.clone()));
                }
            }
        }
        Ok(numbered)
    }

    /// Whether the events are numbered.
    pub fn are_numbered(&self) -> bool {
        self.numbered.is_some()
    }

    /// Takes note of the turn that runs.
    pub fn track(&mut self, notification: &ServerNotification) {
        match notification {
            ServerNotification::TurnStarted(params) => {
                self.running = Some(params.turn.id.clone());
            }
            ServerNotification::TurnCompleted(_) => self.running = None,
            _ => {}
        }
    }

    /// Numbers a notification where it is written; none if the events are not numbered, or this one does not say which
    /// thread it is about. Then it stays as it is.
    pub fn number(&mut self, method: &str, message: &mut Vec<u8>) -> Option<Bytes> {
        let numbered = self.numbered.as_mut().filter(|_| names_thread(method))?;
        match numbered.add(&self.server, method, message) {
            Ok(message) => Some(message),
            Err(error) => {
                tracing::error!(thread = %self.id, %error, "events are no longer numbered");
                self.numbered = None;
                None
            }
        }
    }

    /// A turn is about to be recorded: what is missed of it can be told from what comes before.
    pub fn prepare(&mut self) {
        let log = self.numbered.as_mut().and_then(|it| it.log.as_mut());
        if let Some(Err(error)) = log.map(|it| it.append(&[])) {
            tracing::error!(thread = %self.id, %error, "failed to store events");
        }
    }

    /// Stores what is to be sent, so that it is found again after the end of this process.
    pub fn store(&mut self) -> Result<(), LostThread> {
        if let Some(numbered) = &mut self.numbered {
            numbered.store(self.id)?;
            if numbered.unstored.len() > MAX_UNSTORED {
                numbered.unstored = Vec::new();
                let before = before(numbered.numbers, self.running.clone());
                if let Some(log) = &mut numbered.log {
                    log.begin(before);
                }
            }
        }
        Ok(())
    }

    /// Gives back what a thread at which nothing happens need not have in memory.
    pub fn rest(&mut self) {
        let Some(numbered) = &mut self.numbered else {
            return;
        };
        if let Some(log) = &mut numbered.log {
            numbered.recent = VecDeque::new();
            numbered.recent_bytes = 0;
            numbered.share = None;
            numbered.since = numbered.numbers.last;
            if let Err(error) = tokio::task::block_in_place(|| log.rest()) {
                tracing::error!(thread = %self.id, %error, "failed to store events");
            }
        }
    }

    /// Where the events are for a client, with those that it missed if it says where it left off.
    pub fn catch_up(&mut self, client: &Client, after: Option<i64>) -> Option<CatchUp> {
        if !client.wants_numbers() {
            return None;
        }
        let numbered = self.numbered.as_mut()?;
        let (replay, missed) = match after {
            None => (None, VecDeque::new()),
            Some(after) => {
                let after = u64::try_from(after).unwrap_or(0);
                let missed = tokio::task::block_in_place(|| numbered.missed(client, after));
                let (replay, missed) = missed.unwrap_or_else(|error| {
                    tracing::error!(thread = %self.id, %error, "failed to read events");
                    (EventReplay::Reset, VecDeque::new())
                });
                (Some(replay), missed)
            }
        };
        let position = ThreadEvents {
            seq: i64::try_from(numbered.numbers.last).unwrap_or(i64::MAX),
            replay,
        };
        Some(CatchUp { position, missed })
    }
}

impl Numbered {
    fn next(&mut self, server: &Server) -> quipu_journal::Result<u64> {
        if let Some(seq) = self.numbers.take() {
            return Ok(seq);
        }
        let used = self.numbers.last;
        self.numbers = match &self.log {
            Some(log) => server.store.next_epoch(log.thread(), used)?,
            None => Numbers::after(used)?,
        };
        // An epoch has more than one number.
        Ok(self.numbers.take().unwrap_or(self.numbers.last))
    }

    fn add(
        &mut self,
        server: &Server,
        method: &str,
        message: &mut Vec<u8>,
    ) -> quipu_journal::Result<Bytes> {
        let seq = self.next(server)?;
        add_number(message, seq);
        let message = Bytes::copy_from_slice(message);
        if is_worth_storing(method) && self.log.is_some() {
            self.unstored.extend_from_slice(&message);
            self.unstored.push(b'\n');
        }
        self.recent_bytes += message.len();
        self.recent.push_back(Recent {
            seq,
            message: message.clone(),
        });
        self.shed(server);
        Ok(message)
    }

    /// Adds an event that nobody is notified of now.
    fn add_to_log(
        &mut self,
        server: &Server,
        notification: &ServerNotification,
    ) -> quipu_journal::Result<()> {
        if let Some(message) = audience::encode(notification) {
            let seq = self.next(server)?;
            self.unstored.extend_from_slice(&message);
            add_number(&mut self.unstored, seq);
            self.unstored.push(b'\n');
        }
        Ok(())
    }

    /// Forgets the oldest events beyond the limits of the thread and of all threads.
    fn shed(&mut self, server: &Server) {
        while self.recent.len() > MAX_RECENT
            || self.recent_bytes > MAX_RECENT_BYTES
            || !self.is_granted(server)
        {
            let Some(oldest) = self.recent.pop_front() else {
                return;
            };
            self.recent_bytes -= oldest.message.len();
            self.since = oldest.seq;
        }
    }

    fn is_granted(&mut self, server: &Server) -> bool {
        match &mut self.share {
            Some(share) => share.resize(self.recent_bytes),
            none => {
                *none = server.budgets.events.share(self.recent_bytes);
                none.is_some()
            }
        }
    }

    /// Writes the lines that are not stored. What a failing store does not take waits for the next time.
    fn store(&mut self, id: Uuid) -> Result<(), LostThread> {
        let Some(log) = self.log.as_mut().filter(|_| !self.unstored.is_empty()) else {
            return Ok(());
        };
        let stored = log.append(&self.unstored);
        if let Err(error) = &stored {
            tracing::error!(thread = %id, %error, "failed to store events");
        } else {
            self.unstored.clear();
        }
        self.unstored.shrink_to(MAX_RECENT_BYTES);
        match stored {
            Err(Error::LostLease(_)) => Err(LostThread),
            _ => Ok(()),
        }
    }

    /// The events after a number, as far as the client wants them.
    fn missed(
        &mut self,
        client: &Client,
        after: u64,
    ) -> quipu_journal::Result<(EventReplay, VecDeque<Bytes>)> {
        if after > self.numbers.last {
            return Ok((EventReplay::Reset, VecDeque::new()));
        }
        let mut missed = VecDeque::new();
        let mut replay = EventReplay::Complete;
        if after < self.since {
            let stored = self.log.as_mut().map(EventLog::read).transpose()?.flatten();
            let Some(stored) = stored.filter(|it| it.before.after <= after) else {
                return Ok((EventReplay::Reset, missed));
            };
            replay = EventReplay::Condensed;
            let old = stored.events.into_iter();
            let old = old.filter(|it| it.seq > after && it.seq <= self.since);
            let old = old.filter(|it| client.wants(&it.method));
            missed.extend(old.map(|it| Bytes::from(condensed(it.message))));
        }
        let recent = self.recent.iter().filter(|it| it.seq > after);
        let recent = recent.filter(|it| client.wants(method_of(&it.message)));
        missed.extend(recent.map(|it| it.message.clone()));
        Ok((replay, missed))
    }
}

/// The turn that goes on here, if one does.
fn running(thread: &Thread) -> Option<String> {
    let last = thread.turns.last();
    let open = last.filter(|turn| turn.status == TurnStatus::InProgress);
    open.map(|turn| turn.id.clone())
}

/// Where events begin that are not preceded by stored ones.
fn before(numbers: Numbers, running: Option<String>) -> Before {
    Before {
        after: numbers.last,
        is_open: running.is_some(),
        turn: running.unwrap_or_else(|| Uuid::now_v7().to_string()),
    }
}

/// Adds the number of a message as its last member.
fn add_number(message: &mut Vec<u8>, seq: u64) {
    // The message is an object, so it ends with a brace.
    message.pop();
    // Writing to a vector cannot fail.
    write!(message, r#","quipu":{{"seq":{seq}}}}}"#).ok();
}

/// A message whose neighbours may be missing.
fn condensed(mut message: Vec<u8>) -> Vec<u8> {
    message.truncate(message.len().saturating_sub(2));
    message.extend_from_slice(br#","condensed":true}}"#);
    message
}

/// The method of a message, which is its first member.
fn method_of(message: &[u8]) -> &str {
    let name = message.strip_prefix(br#"{"method":""#).unwrap_or_default();
    let end = name.iter().position(|byte| *byte == b'"').unwrap_or(0);
    std::str::from_utf8(&name[..end]).unwrap_or_default()
}

/// Whether a notification says which thread it is about. The others are about the server, although threads send them.
fn names_thread(method: &str) -> bool {
    let others = ["account/", "app/", "mcpServer/", "skills/"];
    !others.iter().any(|it| method.starts_with(it))
}

/// Whether an event is more than a part of what a later one says in full, or of what `thread/resume` answers.
fn is_worth_storing(method: &str) -> bool {
    let is_part = method.ends_with("elta")
        || method.ends_with("/progress")
        || method.starts_with("thread/realtime/");
    let is_other = matches!(
        method,
        "thread/status/changed"
            | "turn/diff/updated"
            | "item/reasoning/summaryPartAdded"
            | "item/commandExecution/terminalInteraction"
            | "rawResponseItem/completed"
    );
    !is_part && !is_other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_the_last_member_and_leaves_the_rest_as_it_is() {
        let plain = br#"{"method":"turn/started","params":{},"emittedAtMs":5}"#;
        let mut numbered = plain.to_vec();
        add_number(&mut numbered, 7);
        let expected =
            br#"{"method":"turn/started","params":{},"emittedAtMs":5,"quipu":{"seq":7}}"#;
        assert_eq!(numbered, expected);
        assert_eq!(method_of(&numbered), "turn/started");
        let marked = condensed(numbered);
        assert!(marked.ends_with(br#""quipu":{"seq":7,"condensed":true}}"#));
    }
}
