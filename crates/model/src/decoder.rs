//! What the decoders of all formats share: the trait, the outcome of one event, and the slots of items.

use std::fmt;
use std::sync::Arc;

use reqwest::header::HeaderMap;

use crate::error::ErrorKind;
use crate::event::{ModelEvent, OutputItem};
use crate::history::HistoryItem;
use crate::item::Item;
use crate::request::Request;

/// What an event did to the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// There is more to come.
    More,
    /// The answer is complete; nothing after it counts.
    Done,
    /// The event could not be read and was skipped.
    Unreadable,
}

/// What a decoder must know about the request it decodes the answer of.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) provider: Arc<str>,
    pub(crate) request: Arc<Request>,
}

impl Context {
    /// Whether a call id was used before in this thread.
    pub(crate) fn knows_call(&self, call_id: &str) -> bool {
        self.request
            .input
            .iter()
            .map(HistoryItem::call_id)
            .any(|known| known == Some(call_id))
    }
}

/// Hands out slots and writes the events that carry items.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slots(pub(crate) u32);

impl Slots {
    pub(crate) fn take(&mut self) -> u32 {
        let slot = self.0;
        self.0 += 1;
        slot
    }

    pub(crate) fn start(&mut self, item: &Item, out: &mut Vec<ModelEvent>) -> u32 {
        let slot = self.take();
        out.push(ModelEvent::ItemStarted {
            slot,
            item: Box::new(OutputItem::new(item)),
        });
        slot
    }

    /// An item that comes all at once.
    pub(crate) fn whole(&mut self, item: &Item, out: &mut Vec<ModelEvent>) {
        let slot = self.take();
        done(slot, item, out);
    }
}

pub(crate) fn done(slot: u32, item: &Item, out: &mut Vec<ModelEvent>) {
    out.push(ModelEvent::ItemDone {
        slot,
        item: Box::new(OutputItem::new(item)),
    });
}

/// Reads the events of one answer in one wire format.
pub(crate) trait Decode: fmt::Debug + Send {
    /// The headers of the answer, before its first event.
    fn headers(&mut self, _headers: &HeaderMap, _out: &mut Vec<ModelEvent>) {}

    /// The data of one event.
    fn event(&mut self, data: &str, out: &mut Vec<ModelEvent>) -> Result<Step, ErrorKind>;

    /// The stream ended. Formats without a final event may be complete by now.
    fn end(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ErrorKind>;

    /// The slots, to go on counting in the next attempt.
    fn slots(&self) -> Slots;
}

/// Reads the data of one event. Bytes that are not UTF-8 are replaced, not fatal.
pub(crate) fn event(
    decoder: &mut dyn Decode,
    data: &[u8],
    out: &mut Vec<ModelEvent>,
) -> Result<Step, ErrorKind> {
    match std::str::from_utf8(data) {
        Ok(text) => decoder.event(text, out),
        Err(_) => {
            tracing::warn!("event of a model stream was not UTF-8");
            decoder.event(&String::from_utf8_lossy(data), out)
        }
    }
}

pub(crate) fn closed_early() -> ErrorKind {
    ErrorKind::stream("stream closed before the end of the answer")
}

/// The answer ended for a reason that is not its natural end.
pub(crate) fn incomplete(reason: &str) -> String {
    format!("Incomplete response returned, reason: {reason}")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;
    use proptest::sample::select;
    use serde_json::{Value, json};

    use super::*;
    use crate::provider::WireApi;

    /// JSON made of the words that the formats know, in places where they need not fit.
    fn value() -> impl Strategy<Value = Value> {
        let word = select(vec![
            "message",
            "reasoning",
            "function_call",
            "custom_tool_call",
            "text",
            "thinking",
            "tool_use",
            "text_delta",
            "thinking_delta",
            "input_json_delta",
            "signature_delta",
            "final_answer",
            "a",
            "b",
            "{\"x\":",
        ]);
        let leaf = prop_oneof![
            Just(Value::Null),
            (0i64..3).prop_map(Value::from),
            word.prop_map(Value::from),
        ];
        let key = select(vec![
            "id",
            "type",
            "delta",
            "content",
            "role",
            "name",
            "arguments",
            "call_id",
            "input",
            "summary",
            "usage",
            "error",
            "message",
            "code",
            "text",
            "thinking",
            "partial_json",
            "tool_calls",
            "function",
            "index",
            "finish_reason",
            "stop_reason",
        ]);
        leaf.prop_recursive(3, 24, 5, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                proptest::collection::btree_map(key.clone(), inner, 0..5)
                    .prop_map(|map| json!(map)),
            ]
        })
    }

    fn event() -> impl Strategy<Value = String> {
        let kind = select(vec![
            "response.output_text.delta",
            "response.output_item.added",
            "response.output_item.done",
            "response.reasoning_text.delta",
            "response.reasoning_summary_text.delta",
            "response.reasoning_summary_part.added",
            "response.created",
            "response.completed",
            "response.failed",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_start",
            "message_delta",
            "message_stop",
            "ping",
            "error",
        ]);
        let field = select(vec![
            "item",
            "item_id",
            "delta",
            "response",
            "headers",
            "content_block",
            "index",
            "choices",
            "message",
            "usage",
            "error",
            "id",
        ]);
        let fields = proptest::collection::btree_map(field, value(), 0..5);
        let object = (kind, fields, any::<bool>()).prop_map(|(kind, fields, listed)| {
            let mut event = json!(fields);
            event["type"] = kind.into();
            if listed {
                event["choices"] = json!([{"delta": event["delta"], "finish_reason": event["id"]}]);
            }
            event.to_string()
        });
        prop_oneof![12 => object, 1 => Just("[DONE]".to_owned()), 1 => ".{0,12}"]
    }

    fn context() -> Context {
        let schema = serde_json::value::to_raw_value(&json!({})).unwrap();
        let request = Request {
            output_schema: Some(schema.into()),
            ..Request::default()
        };
        Context {
            provider: "here".into(),
            request: Arc::new(request),
        }
    }

    proptest! {
        #[test]
        fn whatever_comes_slots_stay_in_order(
            events in proptest::collection::vec(event(), 0..30),
            wire in select(vec![WireApi::Responses, WireApi::Chat, WireApi::Anthropic]),
        ) {
            let mut decoder = (wire.format().decoder)(context(), Slots::default());
            let mut out = Vec::new();
            let mut ended = false;
            for data in &events {
                match decoder.event(data, &mut out) {
                    Ok(Step::More | Step::Unreadable) => {}
                    Ok(Step::Done) | Err(_) => { ended = true; break }
                }
            }
            if !ended {
                drop(decoder.end(&mut out));
            }
            let (mut open, mut done) = (HashSet::new(), HashSet::new());
            for event in &out {
                match event {
                    ModelEvent::ItemStarted { slot, .. } => prop_assert!(open.insert(*slot)),
                    ModelEvent::ItemDone { slot, .. } => {
                        open.remove(slot);
                        prop_assert!(done.insert(*slot), "an item was done twice");
                    }
                    ModelEvent::TextDelta { slot, .. }
                    | ModelEvent::ReasoningTextDelta { slot, .. }
                    | ModelEvent::ReasoningPartAdded { slot, .. }
                    | ModelEvent::ReasoningSummaryDelta { slot, .. } => {
                        prop_assert!(open.contains(slot), "a delta without its item");
                    }
                    _ => {}
                }
            }
            let ends = out.iter().filter(|event| matches!(event, ModelEvent::Completed(_))).count();
            prop_assert!(ends <= 1);
        }
    }
}
