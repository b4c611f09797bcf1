//! Bounds on what a model can do in a turn. Without them, a model that never finishes would be asked, call tools and
//! have its history compacted until somebody notices, and one that never stops writing would start items that are
//! too long for the log.

use quipu_wire::{CodexErrorInfo, TurnError};

use crate::fit::{MAX_RECORDED, cut_encoded, encoded_len};
use crate::input::{ModelItem, OutputItem};

/// Requests to the model in one turn.
const MAX_REQUESTS: u32 = 5_000;
/// Tool calls in one turn.
const MAX_CALLS: u32 = 10_000;
/// Compactions in a row after which the history is too long again at the first answer.
const MAX_FUTILE: u32 = 5;
/// Bytes that the text of one item of the model may take as JSON; the rest of the item is short.
pub const MAX_WRITTEN: usize = MAX_RECORDED - (64 << 10);
/// Bytes of a tool call, which several parts of its item may repeat.
const MAX_CALL: usize = 5 << 20;
/// Ends a text that does not fit.
pub const CUT: &str = "\n\n[The rest is too long to be stored.]";

/// What a turn has taken so far. Each method is an error if the turn must end instead.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Effort {
    requests: u32,
    calls: u32,
    /// Requests since the history was last compacted, if it was.
    since_compaction: Option<u32>,
    /// Compactions in a row that did not help.
    futile: u32,
}

impl Effort {
    /// Counts a request to the model.
    pub fn count_request(&mut self) -> Result<(), TurnError> {
        self.requests += 1;
        if let Some(requests) = &mut self.since_compaction {
            *requests += 1;
        }
        if self.requests <= MAX_REQUESTS {
            return Ok(());
        }
        let text = format!(
            "The model was asked {MAX_REQUESTS} times in this turn and did not finish it. Send another message to go on."
        );
        Err(exhausted(text, CodexErrorInfo::Other))
    }

    /// Counts a tool call.
    pub fn count_call(&mut self) -> Result<(), TurnError> {
        self.calls += 1;
        if self.calls <= MAX_CALLS {
            return Ok(());
        }
        let text = format!(
            "The model made more than {MAX_CALLS} tool calls in this turn and did not finish it. Send another \
             message to go on."
        );
        Err(exhausted(text, CodexErrorInfo::Other))
    }

    /// Counts a compaction in the middle of the turn, of a history that is over `limit`.
    pub fn count_compaction(&mut self, limit: Option<i64>) -> Result<(), TurnError> {
        self.futile = match self.since_compaction {
            Some(0 | 1) => self.futile + 1,
            _ => 0,
        };
        if self.futile < MAX_FUTILE {
            return Ok(());
        }
        let limit = limit.unwrap_or_default();
        let text = format!(
            "The history was over the limit of {limit} tokens again right after each of {MAX_FUTILE} compactions. \
             Raise `model_auto_compact_token_limit`, or go on in a new thread."
        );
        Err(exhausted(text, CodexErrorInfo::ContextWindowExceeded))
    }

    /// The history was compacted.
    pub fn compacted(&mut self) {
        self.since_compaction = Some(0);
    }
}

/// Checks how many bytes the text that the model has written into an item takes.
pub fn check_written(bytes: usize) -> Result<(), TurnError> {
    check(bytes, MAX_WRITTEN)
}

/// Checks an item that the model has written in full.
pub fn check_output(output: &OutputItem) -> Result<(), TurnError> {
    let raw = output.raw.get().len();
    match &output.item {
        _ if raw > MAX_RECORDED => check(raw, MAX_RECORDED),
        ModelItem::Message { text, .. } => check_written(text.as_deref().map_or(0, encoded_len)),
        ModelItem::Reasoning { summary, content } => {
            let parts = summary.iter().chain(content);
            check_written(parts.map(|part| encoded_len(part)).sum())
        }
        ModelItem::Call(_) | ModelItem::WebSearch { .. } => check(raw, MAX_CALL),
        ModelItem::ImageGeneration(_) | ModelItem::Other => Ok(()),
    }
}

fn check(bytes: usize, most: usize) -> Result<(), TurnError> {
    if bytes <= most {
        return Ok(());
    }
    let text = format!(
        "The model wrote more than {most} bytes into one item, which is too long to be stored. Ask it to answer in \
         smaller parts."
    );
    Err(exhausted(text, CodexErrorInfo::Other))
}

/// What fits of a message, which says so if that is not all.
pub fn fit_message(mut text: String) -> String {
    if encoded_len(&text) > MAX_WRITTEN {
        cut_encoded(&mut text, MAX_WRITTEN - encoded_len(CUT));
        text.push_str(CUT);
    }
    text
}

fn exhausted(message: String, info: CodexErrorInfo) -> TurnError {
    TurnError {
        message,
        codex_error_info: Some(info),
        additional_details: None,
    }
}
