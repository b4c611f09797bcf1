//! Bounds on what a model can make of a turn. One that never comes to an end would otherwise be asked, call tools
//! and have its history compacted for as long as nobody looks; one that writes without end would start items that
//! no log can hold.

use quipu_wire::{CodexErrorInfo, TurnError};

use crate::fit::MAX_RECORDED;
use crate::input::{ModelItem, OutputItem};
use crate::thread::Thread;

/// Requests to the model in one turn.
const MAX_REQUESTS: u32 = 5_000;
/// Tool calls in one turn.
const MAX_CALLS: u32 = 10_000;
/// Compactions in a row after which the first answer is too long again.
const MAX_FUTILE: u32 = 5;
/// Bytes of text in one item of the model. As JSON, each may take six.
pub const MAX_WRITTEN: usize = 5 << 20;
const _: () = assert!(6 * MAX_WRITTEN < MAX_RECORDED);

/// What a turn has taken so far.
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
    pub fn compacted(&mut self) {
        self.since_compaction = Some(0);
    }
}

impl Thread {
    /// Counts a request to the model. Ends the turn instead if there were too many.
    pub(crate) fn may_ask(&mut self) -> bool {
        let Some(turn) = &mut self.active else {
            return false;
        };
        turn.effort.requests += 1;
        if let Some(requests) = &mut turn.effort.since_compaction {
            *requests += 1;
        }
        if turn.effort.requests <= MAX_REQUESTS {
            return true;
        }
        let text = format!(
            "The model was asked {MAX_REQUESTS} times in this turn and did not finish it. Send another message to go on."
        );
        self.exhausted(text, CodexErrorInfo::Other);
        false
    }

    /// Counts a tool call. Ends the turn instead if there were too many.
    pub(crate) fn may_call(&mut self) -> bool {
        let Some(turn) = &mut self.active else {
            return false;
        };
        turn.effort.calls += 1;
        if turn.effort.calls <= MAX_CALLS {
            return true;
        }
        let text = format!(
            "The model made more than {MAX_CALLS} tool calls in this turn and did not finish it. Send another \
             message to go on."
        );
        self.exhausted(text, CodexErrorInfo::Other);
        false
    }

    /// Whether compacting in the middle of the turn can help. Ends the turn if it has not for some time.
    pub(crate) fn may_compact(&mut self) -> bool {
        let Some(turn) = &mut self.active else {
            return false;
        };
        let effort = &mut turn.effort;
        effort.futile = match effort.since_compaction {
            Some(0 | 1) => effort.futile + 1,
            _ => 0,
        };
        if effort.futile < MAX_FUTILE {
            return true;
        }
        let limit = self.compact_at.unwrap_or_default();
        let text = format!(
            "The history was over the limit of {limit} tokens again right after each of {MAX_FUTILE} compactions. \
             Raise `model_auto_compact_token_limit`, or go on in a new thread."
        );
        self.exhausted(text, CodexErrorInfo::ContextWindowExceeded);
        false
    }

    /// Whether an item of the model may hold so many bytes of text. Ends the turn instead if not.
    pub(crate) fn may_write(&mut self, bytes: usize) -> bool {
        if bytes <= MAX_WRITTEN {
            return true;
        }
        let text = format!(
            "The model wrote more than {MAX_WRITTEN} bytes into one item, which is too long to be stored. Ask it to \
             answer in smaller parts."
        );
        self.exhausted(text, CodexErrorInfo::Other);
        false
    }

    /// The same for an item that it has written in full.
    pub(crate) fn may_finish(&mut self, output: &OutputItem) -> bool {
        let raw = output.raw.get().len();
        let written = match &output.item {
            _ if raw > MAX_RECORDED => raw,
            ModelItem::Message { text, .. } => text.as_ref().map_or(0, String::len),
            ModelItem::Reasoning { summary, content } => {
                summary.iter().chain(content).map(String::len).sum()
            }
            ModelItem::Call(_) | ModelItem::WebSearch { .. } => raw,
            ModelItem::ImageGeneration { .. } | ModelItem::Other => 0,
        };
        self.may_write(written)
    }

    fn exhausted(&mut self, message: String, info: CodexErrorInfo) {
        self.break_off(TurnError {
            message,
            codex_error_info: Some(info),
            additional_details: None,
        });
    }
}
