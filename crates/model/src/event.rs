//! What a model's answer is made of, the same for every provider.

use std::sync::Arc;
use std::time::Duration;

use quipu_wire::{CodexErrorInfo, RateLimitSnapshot};
use serde_json::value::RawValue;

use crate::error::ModelError;
use crate::item::{Item, ItemKind};
use crate::usage::Usage;

/// One step of an answer. The last event is always `Completed` or `Failed`.
///
/// `slot` names an item within one stream: deltas and the end of an item carry the slot of its
/// start. Items that need no start (tool calls) appear with `ItemDone` alone.
#[derive(Debug, Clone)]
pub enum ModelEvent {
    /// The provider began to answer.
    Opened(Opened),
    /// What the account may still use.
    RateLimits(Box<RateLimitSnapshot>),
    /// Another model than the one asked for is answering.
    ModelRerouted {
        /// The model that answers.
        model: String,
    },
    /// A message, reasoning or hosted call began; it is not complete yet.
    ItemStarted {
        /// Its slot.
        slot: u32,
        /// The item so far.
        item: Box<OutputItem>,
    },
    /// More text of a message.
    TextDelta {
        /// The message's slot.
        slot: u32,
        /// The text.
        delta: String,
    },
    /// A new section of a reasoning summary begins.
    ReasoningPartAdded {
        /// The reasoning's slot.
        slot: u32,
        /// The section's number.
        index: u32,
    },
    /// More text of a reasoning summary.
    ReasoningSummaryDelta {
        /// The reasoning's slot.
        slot: u32,
        /// The section's number.
        index: u32,
        /// The text.
        delta: String,
    },
    /// More raw reasoning.
    ReasoningTextDelta {
        /// The reasoning's slot.
        slot: u32,
        /// The part's number.
        index: u32,
        /// The text.
        delta: String,
    },
    /// An item is complete.
    ItemDone {
        /// Its slot.
        slot: u32,
        /// The item.
        item: Box<OutputItem>,
    },
    /// The answer broke off and is asked for again. Items that started and are not done are void.
    Retrying(Box<Retrying>),
    /// The answer is complete.
    Completed(Box<Completed>),
    /// There is no answer, or no more of it.
    Failed(Box<ModelError>),
}

/// What the head of a response said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Opened {
    /// The provider counts old reasoning in its usage numbers, so no estimate must be added.
    pub reasoning_included: bool,
    /// The version of the provider's model list.
    pub models_etag: Option<String>,
}

/// An item as a model made it.
#[derive(Debug, Clone)]
pub struct OutputItem {
    /// What sort of item it is.
    pub kind: ItemKind,
    /// The provider's id of it, if it has one.
    pub id: Option<String>,
    /// The item in the form that histories and rollout files have.
    pub raw: Arc<RawValue>,
}

impl OutputItem {
    pub(crate) fn new(item: &Item) -> Self {
        Self {
            kind: item.kind(),
            id: item.id().filter(|id| !id.is_empty()).map(str::to_owned),
            raw: item.to_raw().into(),
        }
    }
}

/// The end of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Completed {
    /// The provider's id of the response.
    pub response_id: String,
    /// What it cost in tokens, when the provider said so.
    pub usage: Option<Usage>,
    /// Why the final message does not match the schema that was asked for. `None` when it matches,
    /// when there is no schema, or when the model called a tool instead.
    pub output_error: Option<OutputError>,
}

/// What is wrong with a final message that was to match a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputError {
    /// Where it does not match, and why.
    pub reason: String,
    /// It is JSON at least, so that a program may make use of it.
    pub is_json: bool,
}

/// Another attempt is coming.
#[derive(Debug, Clone)]
pub struct Retrying {
    /// Which attempt, from 1.
    pub attempt: u32,
    /// How many there may be.
    pub max: u32,
    /// How long to wait before it.
    pub delay: Duration,
    /// Why.
    pub error: ModelError,
    /// Whether people should know.
    pub announced: bool,
}

impl Retrying {
    /// The notice for people: what clients know, then the reason.
    pub fn message(&self) -> String {
        let reason = self.error.kind.brief();
        format!("Reconnecting... {}/{} ({reason})", self.attempt, self.max)
    }

    /// The notice for programs.
    pub fn info(&self) -> CodexErrorInfo {
        CodexErrorInfo::ResponseStreamDisconnected {
            http_status_code: self.error.http_status(),
        }
    }
}
