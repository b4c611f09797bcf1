//! Requests we sent and wait on. An entry leaves the map exactly once: by its answer, by a failure,
//! or because the waiter lost interest; so a waiter hears once and a late answer finds nobody.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::close::CloseReason;
use crate::error::ErrorObject;
use crate::frame::Answer;
use crate::id::Id;
use crate::outbox::SendError;
use crate::raw::RawJson;

/// What came of a call.
pub type Outcome = Result<RawJson, CallError>;

/// Why a call has no result.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CallError {
    /// The other side answered with an error.
    #[error("{0}")]
    Rejected(ErrorObject),
    /// The connection ended before the answer came.
    #[error("no answer: {0}")]
    Closed(CloseReason),
    /// The answer did not come in time; if it comes later it is ignored.
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    /// There was no room to send the request.
    #[error("not sent: the queue of outgoing messages is full")]
    Full,
    /// The params could not be written as JSON.
    #[error("not sent: the params cannot be written as JSON: {0}")]
    Unencodable(Arc<serde_json::Error>),
}

impl From<SendError> for CallError {
    fn from(error: SendError) -> Self {
        match error {
            SendError::Full => Self::Full,
            SendError::Closed(reason) => Self::Closed(reason),
        }
    }
}

impl From<serde_json::Error> for CallError {
    fn from(error: serde_json::Error) -> Self {
        Self::Unencodable(Arc::new(error))
    }
}

/// What an answer found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Somebody was waiting and has it now.
    Delivered,
    /// The request was ours, but is answered already, timed out or was given up.
    Late,
    /// We never sent a request with this id.
    Unknown,
}

/// The calls in progress, and the counter of their ids. Clones share both.
#[derive(Clone, Debug)]
pub struct Calls(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    first: i64,
    next: i64,
    waiting: HashMap<i64, oneshot::Sender<Outcome>>,
    closed: Option<CloseReason>,
}

impl Calls {
    /// No calls yet; ids count up from `first`.
    pub fn new(first: i64) -> Self {
        Self(Arc::new(Mutex::new(State {
            first,
            next: first,
            waiting: HashMap::new(),
            closed: None,
        })))
    }

    /// Begins a call. Register before sending, so that the answer cannot come too early.
    pub fn register(&self) -> Waiter {
        let (sender, receiver) = oneshot::channel();
        let mut state = self.0.lock();
        let id = state.next;
        state.next += 1;
        match &state.closed {
            None => drop(state.waiting.insert(id, sender)),
            // An unread receiver is the only way this fails, and it is read below.
            Some(reason) => drop(sender.send(Err(CallError::Closed(reason.clone())))),
        }
        drop(state);
        Waiter {
            id,
            receiver,
            calls: self.clone(),
        }
    }

    /// Hands an answer to the caller that waits for it.
    pub fn answer(&self, answer: Answer) -> Arrival {
        let Id::Integer(id) = answer.id else {
            return Arrival::Unknown;
        };
        self.complete(id, answer.outcome.map_err(CallError::Rejected))
    }

    /// Ends one call without an answer.
    pub fn fail(&self, id: i64, error: CallError) -> Arrival {
        self.complete(id, Err(error))
    }

    /// Ends all calls, and every later one, with the same reason; the first reason stays.
    pub fn close(&self, reason: &CloseReason) {
        let waiting = {
            let mut state = self.0.lock();
            state.closed.get_or_insert_with(|| reason.clone());
            std::mem::take(&mut state.waiting)
        };
        for waiter in waiting.into_values() {
            // A waiter that is gone needs no reason.
            drop(waiter.send(Err(CallError::Closed(reason.clone()))));
        }
    }

    /// Why no call can be answered any more, once that is so.
    pub fn closed(&self) -> Option<CloseReason> {
        self.0.lock().closed.clone()
    }

    /// How many calls wait for their answers.
    pub fn len(&self) -> usize {
        self.0.lock().waiting.len()
    }

    /// Whether no call waits for its answer.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn complete(&self, id: i64, outcome: Outcome) -> Arrival {
        let mut state = self.0.lock();
        match state.waiting.remove(&id) {
            Some(waiter) => {
                drop(state);
                match waiter.send(outcome) {
                    Ok(()) => Arrival::Delivered,
                    Err(_) => Arrival::Late,
                }
            }
            None if (state.first..state.next).contains(&id) => Arrival::Late,
            None => Arrival::Unknown,
        }
    }
}

/// Waits for one answer. Dropping it gives the call up.
#[derive(Debug)]
pub struct Waiter {
    id: i64,
    receiver: oneshot::Receiver<Outcome>,
    calls: Calls,
}

impl Waiter {
    /// The id to send the request with.
    pub fn id(&self) -> i64 {
        self.id
    }

    /// Waits at most this long, then gives the call up.
    pub async fn within(self, limit: Duration) -> Outcome {
        match tokio::time::timeout(limit, self).await {
            Ok(outcome) => outcome,
            Err(_) => Err(CallError::TimedOut(limit)),
        }
    }
}

impl Future for Waiter {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        // The sender is never dropped unsent while the waiter lives: the map is emptied by
        // sending, and only this waiter's drop removes its entry.
        Pin::new(&mut self.receiver)
            .poll(cx)
            .map(|outcome| outcome.unwrap_or(Err(CallError::Closed(CloseReason::Local))))
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.calls.0.lock().waiting.remove(&self.id);
    }
}
