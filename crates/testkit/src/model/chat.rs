//! A step as the chunks of a Chat Completions stream.

use std::iter::once;
use std::time::Duration;

use bytes::Bytes;
use quipu_model::play::{Ending, break_utf8, dripped};
use quipu_model::script::Step;
use serde_json::{Value, json};

type Frames = Box<dyn Iterator<Item = (Duration, Bytes)> + Send>;

pub(super) fn frames(step: Step, id: &str, ending: Ending) -> Frames {
    let now = |bytes: Vec<u8>| (Duration::ZERO, Bytes::from(bytes));
    let raw = step.raw.clone().unwrap_or_default().into_bytes();
    if step.is_raw_only() {
        return dripped(once(now(raw)), step.drip);
    }
    let id = format!("chatcmpl-{id}");
    let mut head = raw;
    head.extend(chunk(
        &id,
        &json!({"role": "assistant", "content": ""}),
        None,
    ));
    for reasoning in step.reasoning.iter().chain(&step.raw_reasoning) {
        head.extend(chunk(&id, &json!({"reasoning_content": reasoning}), None));
    }
    let (wait, bad_utf8, drip) = (step.piece_wait(), step.bad_utf8, step.drip);
    let piece_id = id.clone();
    let pieces = step
        .pieces()
        .into_iter()
        .flatten()
        .enumerate()
        .map(move |(n, piece)| {
            let mut bytes = chunk(&piece_id, &json!({"content": piece}), None);
            if bad_utf8 && n == 0 {
                break_utf8(&mut bytes, "content");
            }
            (wait, Bytes::from(bytes))
        });
    let tail = std::iter::once_with(move || now(finish(&step, &id, ending)));
    dripped(once(now(head)).chain(pieces).chain(tail), drip)
}

fn sse(event: &Value) -> Vec<u8> {
    format!("data: {event}\n\n").into_bytes()
}

fn chunk(id: &str, delta: &Value, finish_reason: Option<&str>) -> Vec<u8> {
    sse(&json!({
        "id": id, "object": "chat.completion.chunk", "model": "scripted",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}],
    }))
}

fn finish(step: &Step, id: &str, ending: Ending) -> Vec<u8> {
    let mut out = calls(step, id);
    if ending != Ending::Close {
        return out;
    }
    if let Some(error) = &step.error {
        out.extend(sse(&json!({"error": error})));
        return out;
    }
    let reason = match &step.incomplete {
        Some(reason) if reason == "content_filter" => "content_filter",
        Some(_) => "length",
        None if step.all_calls().is_empty() => "stop",
        None => "tool_calls",
    };
    out.extend(chunk(id, &json!({}), Some(reason)));
    let tokens = step.usage.unwrap_or_default();
    out.extend(sse(&json!({
        "id": id, "object": "chat.completion.chunk", "choices": [],
        "usage": {
            "prompt_tokens": tokens.input,
            "completion_tokens": tokens.output,
            "total_tokens": tokens.input + tokens.output,
            "prompt_tokens_details": {"cached_tokens": tokens.cached},
            "completion_tokens_details": {"reasoning_tokens": tokens.reasoning},
        },
    })));
    out.extend(b"data: [DONE]\n\n");
    out
}

/// All calls begin first and then grow in turns, as parallel calls do.
fn calls(step: &Step, id: &str) -> Vec<u8> {
    let calls = step.all_calls();
    let mut out = Vec::new();
    let mut halves = Vec::new();
    for (n, call) in calls.iter().enumerate() {
        let call_id = call
            .call_id
            .clone()
            .unwrap_or_else(|| format!("call_{id}_{n}"));
        let begun = json!({
            "index": n, "id": call_id, "type": "function",
            "function": {"name": call.name, "arguments": ""},
        });
        out.extend(chunk(id, &json!({"tool_calls": [begun]}), None));
        let arguments = match call.custom {
            true => json!({"input": call.arguments_text()}).to_string(),
            false => call.arguments_text(),
        };
        let middle = arguments.len() / 2;
        let middle = (0..=middle)
            .rev()
            .find(|at| arguments.is_char_boundary(*at))
            .unwrap_or(0);
        let (first, second) = arguments.split_at(middle);
        halves.push([first.to_owned(), second.to_owned()]);
    }
    for half in 0..2 {
        for (n, parts) in halves.iter().enumerate() {
            let grown = json!({"index": n, "function": {"arguments": parts[half]}});
            out.extend(chunk(id, &json!({"tool_calls": [grown]}), None));
        }
    }
    out
}
