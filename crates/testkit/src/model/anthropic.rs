//! A step as the events of an Anthropic Messages stream.

use std::iter::once;
use std::time::Duration;

use bytes::Bytes;
use quipu_model::play::{Ending, break_utf8, dripped, sse};
use quipu_model::script::Step;
use serde_json::{Value, json};

type Frames = Box<dyn Iterator<Item = (Duration, Bytes)> + Send>;

pub(super) fn frames(step: Step, id: &str, ending: Ending) -> Frames {
    let now = |bytes: Vec<u8>| (Duration::ZERO, Bytes::from(bytes));
    let raw = step.raw.clone().unwrap_or_default().into_bytes();
    if step.is_raw_only() {
        return dripped(once(now(raw)), step.drip);
    }
    let mut head = raw;
    let mut index = 0;
    head.extend(begin(&step, id));
    if let Some(text) = step.reasoning.as_ref().or(step.raw_reasoning.as_ref()) {
        let thinking = json!({"type": "thinking", "thinking": "", "signature": ""});
        let deltas = [
            json!({"type": "thinking_delta", "thinking": text}),
            json!({"type": "signature_delta", "signature": format!("sig_{id}")}),
        ];
        head.extend(block(index, &thinking, &deltas));
        index += 1;
    }
    let message = index;
    if step.pieces().is_some() {
        let text = json!({"type": "text", "text": ""});
        head.extend(event(
            &json!({"type": "content_block_start", "index": index, "content_block": text}),
        ));
        index += 1;
    }
    let (wait, bad_utf8, drip) = (step.piece_wait(), step.bad_utf8, step.drip);
    let pieces = step
        .pieces()
        .into_iter()
        .flatten()
        .enumerate()
        .map(move |(n, piece)| {
            let delta = json!({"type": "text_delta", "text": piece});
            let mut bytes =
                event(&json!({"type": "content_block_delta", "index": message, "delta": delta}));
            if bad_utf8 && n == 0 {
                break_utf8(&mut bytes, "text");
            }
            (wait, Bytes::from(bytes))
        });
    let id = id.to_owned();
    let tail = std::iter::once_with(move || now(finish(&step, &id, ending, index)));
    dripped(once(now(head)).chain(pieces).chain(tail), drip)
}

fn event(value: &Value) -> Vec<u8> {
    sse(value)
}

fn begin(step: &Step, id: &str) -> Vec<u8> {
    let tokens = step.usage.unwrap_or_default();
    event(&json!({
        "type": "message_start",
        "message": {
            "id": format!("msg_{id}"), "type": "message", "role": "assistant", "content": [],
            "usage": {
                "input_tokens": tokens.input - tokens.cached,
                "cache_read_input_tokens": tokens.cached,
                "cache_creation_input_tokens": 0,
                "output_tokens": 1,
            },
        },
    }))
}

fn block(index: usize, start: &Value, deltas: &[Value]) -> Vec<u8> {
    let mut out =
        event(&json!({"type": "content_block_start", "index": index, "content_block": start}));
    for delta in deltas {
        out.extend(event(
            &json!({"type": "content_block_delta", "index": index, "delta": delta}),
        ));
    }
    out.extend(event(
        &json!({"type": "content_block_stop", "index": index}),
    ));
    out
}

fn finish(step: &Step, id: &str, ending: Ending, mut index: usize) -> Vec<u8> {
    let mut out = Vec::new();
    if ending == Ending::Close && step.pieces().is_some() {
        out.extend(event(
            &json!({"type": "content_block_stop", "index": index - 1}),
        ));
    }
    for (n, call) in step.all_calls().iter().enumerate() {
        let call_id = call
            .call_id
            .clone()
            .unwrap_or_else(|| format!("toolu_{id}_{n}"));
        let start = json!({"type": "tool_use", "id": call_id, "name": call.name, "input": {}});
        let arguments = match call.custom {
            true => json!({"input": call.arguments_text()}).to_string(),
            false => call.arguments_text(),
        };
        let delta = json!({"type": "input_json_delta", "partial_json": arguments});
        out.extend(block(index, &start, &[delta]));
        index += 1;
    }
    if ending != Ending::Close {
        return out;
    }
    if let Some(error) = &step.error {
        out.extend(event(&json!({"type": "error", "error": error})));
        return out;
    }
    let stop_reason = match &step.incomplete {
        Some(reason) if reason == "refusal" => "refusal",
        Some(_) => "max_tokens",
        None if step.all_calls().is_empty() => "end_turn",
        None => "tool_use",
    };
    let output = step.usage.unwrap_or_default().output;
    out.extend(event(&json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason},
        "usage": {"output_tokens": output},
    })));
    out.extend(event(&json!({"type": "message_stop"})));
    out
}
