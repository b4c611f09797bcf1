//! Requests of ours that wait for a client's answer. The first answer wins; it reaches whoever asked at
//! once, past all queues, because a turn may be holding one of them while it waits.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use quipu_rpc::{Answer, ErrorObject, Id, RawJson};
use quipu_wire::{codec, *};

/// What a client answered.
pub(crate) type Outcome = Result<RawJson, ErrorObject>;

type Waiter = Box<dyn FnOnce(i64, Outcome) + Send>;

macro_rules! checks {
    ($($(#[doc = $doc:literal])+ $name:ident = $wire:literal ($params:ty) -> $result:ty;)*) => {
        /// Whether an answer to this method can be understood; why not otherwise.
        pub(crate) fn check(method: &str, result: &RawJson) -> Result<(), String> {
            let text = std::str::from_utf8(result.as_bytes()).map_err(|error| error.to_string())?;
            match method {
                $($wire => codec::decode_strictly::<$result>(text).map(drop),)*
                _ => Ok(()),
            }
        }
    };
}

quipu_wire::server_requests!(checks);

/// The pending questions of the process. Ids count up from 0 and are never used again.
#[derive(Default)]
pub(crate) struct Questions {
    next: AtomicI64,
    pending: Mutex<HashMap<i64, Waiter>>,
}

impl Questions {
    /// Takes an id for a question; `waiter` is called with it and the answer unless it is withdrawn first.
    pub fn register(&self, waiter: impl FnOnce(i64, Outcome) + Send + 'static) -> i64 {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.lock().insert(id, Box::new(waiter));
        id
    }

    /// Gives a client's answer to whoever waits for it.
    pub fn answer(&self, answer: Answer) {
        let waiter = match answer.id {
            Id::Integer(id) => self.lock().remove(&id).map(|waiter| (id, waiter)),
            Id::String(_) => None,
        };
        match waiter {
            Some((id, waiter)) => waiter(id, answer.outcome),
            None => tracing::debug!(id = %answer.id, "an answer that nobody waits for"),
        }
    }

    /// Forgets a question; a later answer is ignored. `false` if it was answered already.
    pub fn withdraw(&self, id: i64) -> bool {
        self.lock().remove(&id).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<i64, Waiter>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
