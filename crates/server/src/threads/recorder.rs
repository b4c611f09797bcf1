//! The log of a thread: what is recorded in it, what could not be, and where the history is.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use quipu_engine::ThreadId;
use quipu_journal::{Error, Event, History, Log, Record, Replay, event};
use quipu_wire::{CodexErrorInfo, Json, TurnError};

use super::load;
use crate::Refusal;
use crate::Server;

/// Where the history of a loaded thread is.
pub(crate) enum HistoryState {
    InMemory,
    /// In the rollout, at offsets that are known since it was read.
    Located(History),
    /// Somewhere in the rollout.
    Unread,
}

/// Writes the log of one thread. A log that fails ends the running turn, once; the records wait for the next try.
pub(super) struct Recorder {
    thread_id: ThreadId,
    /// `None` for an ephemeral thread.
    log: Option<Log>,
    history: HistoryState,
    /// The running turn was failed because of the log.
    has_failed: bool,
    /// The end of the running turn did not fit: only what it takes to read it back as failed is still stored.
    gives_up: bool,
    /// Another node writes to the thread now.
    is_taken_over: AtomicBool,
    /// Why the log did not take a record. Until its turn ends, which fails, nothing is shown as done.
    lost: Option<Error>,
}

impl Recorder {
    pub fn new(thread_id: ThreadId, log: Option<Log>, history: HistoryState) -> Recorder {
        Recorder {
            thread_id,
            log,
            history,
            has_failed: false,
            gives_up: false,
            is_taken_over: AtomicBool::new(false),
            lost: None,
        }
    }

    /// Whether another node has taken the thread over, so that nothing can be written to it here.
    pub fn is_taken_over(&self) -> bool {
        self.is_taken_over.load(Ordering::Relaxed)
    }

    /// Makes sure that the end of a turn can be stored whatever happens in it; refuses the turn otherwise.
    pub fn reserve(&mut self) -> Result<(), Refusal> {
        let Some(log) = &mut self.log else {
            return Ok(());
        };
        if log.has_reserve() {
            return Ok(());
        }
        let reserved = tokio::task::block_in_place(|| log.reserve());
        reserved.map_err(|error| Refusal::internal(self.report(&error).message))
    }

    pub fn is_ephemeral(&self) -> bool {
        self.log.is_none()
    }

    /// The path of the rollout, which may not be on disk yet.
    pub fn path(&self) -> Option<&Path> {
        self.log.as_ref().map(Log::path)
    }

    /// The path of the rollout, if it is on disk.
    pub fn rollout(&self) -> Option<PathBuf> {
        let log = self.log.as_ref().filter(|log| log.is_materialized())?;
        Some(log.path().to_owned())
    }

    /// What failed in the turn before no longer matters.
    pub fn begin_turn(&mut self) {
        self.lost = None;
        self.has_failed = false;
        self.gives_up = false;
    }

    /// Adds records; the error is for the running turn.
    pub fn append(&mut self, records: &[Record]) -> Option<TurnError> {
        let taken = self.log.as_mut()?.append(records);
        let failure = self.first_failure(taken.as_ref());
        self.lost = taken.err().or(self.lost.take());
        failure
    }

    /// Hands what was recorded to the system, before anything that shows it is sent.
    pub fn flush(&mut self) -> Flushed {
        let mut flushed = self.log.as_mut().map_or(Ok(()), Log::flush);
        if self.gives_up && is_full(&flushed) {
            flushed = self.log.as_mut().map_or(Ok(()), Log::give_up);
        }
        Flushed {
            is_complete: flushed.is_ok() && self.lost.is_none(),
            failure: self.first_failure(flushed.as_ref()),
        }
    }

    /// Hands what was recorded between turns to the system.
    pub fn flush_idle(&mut self) {
        if let Err(error) = self.log.as_mut().map_or(Ok(()), Log::flush) {
            self.report(&error);
        }
    }

    /// Makes the rollout on disk complete, if it is there.
    pub fn flush_rollout(&mut self) {
        if self.rollout().is_some() {
            self.flush_idle();
        }
    }

    /// Waits until what was recorded is on disk. With it a turn ends, and what failed in it is over.
    pub fn sync(&mut self) -> Option<TurnError> {
        self.has_failed = false;
        let log = self.log.as_mut()?;
        let synced = tokio::task::block_in_place(|| log.sync());
        if is_full(&synced) {
            self.gives_up = true;
            if let Err(error) = tokio::task::block_in_place(|| log.give_up()) {
                tracing::error!(thread = %self.thread_id, %error, "failed to store how a turn ended");
            }
        }
        let error = self.lost.take().or(synced.err())?;
        Some(self.report(&error))
    }

    pub fn close(&mut self) {
        if let Some(Err(error)) = self.log.as_mut().map(Log::close) {
            tracing::error!(thread = %self.thread_id, %error, "failed to complete the log of an unloaded thread");
        }
    }

    /// Takes back the last turns, and reads what is left.
    pub fn roll_back(
        &mut self,
        server: &Server,
        turns: u32,
    ) -> Result<(Replay, Vec<Json>), Refusal> {
        let Some(log) = &mut self.log else {
            return Err(Refusal::invalid_request(
                "thread rollback requires a persisted rollout path",
            ));
        };
        let path = log.path().to_owned();
        let failed = |error: Error| {
            let text = format!(
                "failed to load rollout `{}` for rollback replay: {}",
                path.display(),
                error.reason()
            );
            Refusal::invalid_request(text)
        };
        if !log.is_materialized() {
            server.store.replay(&path).map_err(failed)?;
        }
        let rolled_back = Event::ThreadRolledBack(event::ThreadRolledBack { num_turns: turns });
        log.append(&[Record::from(rolled_back)])
            .and_then(|()| tokio::task::block_in_place(|| log.sync()))
            .map_err(failed)?;
        let read = tokio::task::block_in_place(|| {
            let replay = server.store.replay(&path)?;
            let history = server.store.history(&replay.history, &path)?.items;
            Ok((replay, history))
        })
        .map_err(failed)?;
        self.history = HistoryState::InMemory;
        Ok(read)
    }

    /// Gives back the memory of the log; `true` if the history can be read from it again.
    pub fn release(&mut self) -> bool {
        let is_in_memory = matches!(self.history, HistoryState::InMemory);
        let Some(log) = self.log.as_mut().filter(|_| is_in_memory) else {
            return false;
        };
        if let Err(error) = tokio::task::block_in_place(|| log.rest()) {
            tracing::error!(thread = %self.thread_id, %error, "failed to store an idle thread; it stays in memory");
            return false;
        }
        self.history = HistoryState::Unread;
        true
    }

    /// Reads the history if it is not in memory.
    pub fn read_history(&mut self, server: &Server) -> Result<Option<Vec<Json>>, Refusal> {
        let Some(log) = &self.log else {
            return Ok(None);
        };
        let path = log.path();
        let history = tokio::task::block_in_place(|| match &self.history {
            HistoryState::InMemory => Ok(None),
            HistoryState::Located(history) => load::history(server, history, path).map(Some),
            HistoryState::Unread => {
                let replay = load::read(server, path)?;
                load::history(server, &replay.history, path).map(Some)
            }
        })?;
        self.history = HistoryState::InMemory;
        Ok(history)
    }

    /// The error of a turn whose log fails, unless the turn has it already.
    fn first_failure(&mut self, written: Result<&(), &Error>) -> Option<TurnError> {
        let error = self.report(written.err()?);
        (!std::mem::replace(&mut self.has_failed, true)).then_some(error)
    }

    fn report(&self, error: &Error) -> TurnError {
        tracing::error!(thread = %self.thread_id, %error, "failed to write the log of a thread");
        if matches!(error, Error::LostLease(_)) {
            self.is_taken_over.store(true, Ordering::Relaxed);
        }
        TurnError {
            message: format!("The thread cannot be stored: {error}"),
            codex_error_info: Some(CodexErrorInfo::Other),
            additional_details: None,
        }
    }
}

fn is_full(written: &Result<(), Error>) -> bool {
    matches!(written, Err(Error::DiskFull { .. }))
}

/// What came of handing records to the system.
pub(super) struct Flushed {
    /// Everything that was recorded in the turn is stored.
    pub is_complete: bool,
    /// For the running turn.
    pub failure: Option<TurnError>,
}
