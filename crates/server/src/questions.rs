//! Requests of ours to clients, which are called questions. A connection remembers what its client was asked and
//! who asked; the answer goes straight there, past all queues, because a turn may be holding one of them while it
//! waits. If several clients were asked, the first answer counts.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use quipu_rpc::{ErrorObject, Id, RawJson};
use quipu_wire::{codec, *};

/// Questions per client whose answers are still taken.
const MAX_ASKED: usize = 1024;

/// Names a question for the life of the process.
pub(crate) use quipu_engine::QuestionId;

/// What a client answered.
pub(crate) type Outcome = Result<RawJson, ErrorObject>;

/// Takes the answers to questions. It is called by the reader of a connection, so it must not wait.
pub(crate) type Asker = Arc<dyn Fn(QuestionId, Outcome) + Send + Sync>;

macro_rules! checks {
    ($($(#[doc = $doc:literal])+ $name:ident = $wire:literal ($params:ty) -> $result:ty $(, $bound:ident $version:literal)?;)*) => {
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

/// Makes the ids of questions. They count up from 0 and are never used again.
#[derive(Default)]
pub(crate) struct QuestionIds(AtomicI64);

impl QuestionIds {
    pub fn next(&self) -> QuestionId {
        QuestionId::new(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// The questions that one client was asked and did not answer yet.
#[derive(Default)]
pub(crate) struct Asked(BTreeMap<QuestionId, Question>);

/// A question that one client was asked.
#[derive(Clone)]
pub(crate) struct Question {
    pub id: QuestionId,
    pub method: String,
    pub asker: Asker,
}

impl Asked {
    pub fn add(&mut self, question: Question) {
        self.0.insert(question.id, question);
        // Others answered the oldest of so many long ago.
        if self.0.len() > MAX_ASKED {
            self.0.pop_first();
        }
    }

    /// The question that an answer is for, unless the client was not asked it or has answered it. An answer that was
    /// meant for the server before a restart must not settle a question of this one, whose ids start at 0 again.
    pub fn remove(&mut self, id: &Id) -> Option<Question> {
        match id {
            Id::Integer(id) => self.0.remove(&QuestionId::new(*id)),
            Id::String(_) => None,
        }
    }
}
