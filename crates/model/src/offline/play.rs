//! A step of a script as the bytes of a Responses stream, made piece by piece. The offline model
//! reads them in memory; the test kit's server sends them over HTTP.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::script::{Call, Step};

/// How a played answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// As it should.
    Close,
    /// The connection breaks.
    Cut,
    /// Nothing more comes.
    Stall,
}

impl Ending {
    /// The ending that a step asks for in the attempt of that number.
    pub fn of(step: &Step, attempt: u32) -> Self {
        match step {
            Step { cut: true, .. } if step.is_faulty(attempt) => Self::Cut,
            Step { stall: true, .. } if step.is_faulty(attempt) => Self::Stall,
            _ => Self::Close,
        }
    }
}

/// The bytes of one answer, each with the wait before it.
pub struct Player {
    frames: Box<dyn Iterator<Item = (Duration, Bytes)> + Send>,
    ending: Ending,
}

impl Player {
    /// Plays a step as a Responses stream. `id` makes the ids of the response and its items.
    pub fn new(step: Step, id: &str, attempt: u32) -> Self {
        let ending = Ending::of(&step, attempt);
        let frames = frames(step, id.to_owned(), ending);
        Self {
            frames: Box::new(frames),
            ending,
        }
    }

    /// Plays frames that another format made.
    pub fn from_frames(
        frames: impl Iterator<Item = (Duration, Bytes)> + Send + 'static,
        ending: Ending,
    ) -> Self {
        Self {
            frames: Box::new(frames),
            ending,
        }
    }

    /// How it ends once there are no more bytes.
    pub fn ending(&self) -> Ending {
        self.ending
    }
}

impl Iterator for Player {
    type Item = (Duration, Bytes);

    fn next(&mut self) -> Option<Self::Item> {
        self.frames.next()
    }
}

fn frames(
    step: Step,
    id: String,
    ending: Ending,
) -> Box<dyn Iterator<Item = (Duration, Bytes)> + Send> {
    let now = |bytes: Vec<u8>| (Duration::ZERO, Bytes::from(bytes));
    let raw = step.raw.clone().unwrap_or_default().into_bytes();
    if step.is_raw_only() {
        return dripped(std::iter::once(now(raw)), step.drip);
    }
    let mut head = raw;
    head.extend(begin(&step, &id));
    let wait = step.piece_wait();
    let message = format!("msg_{id}");
    let bad_utf8 = step.bad_utf8;
    let pieces = step
        .pieces()
        .into_iter()
        .flatten()
        .enumerate()
        .map(move |(n, piece)| {
            let event =
                json!({"type": "response.output_text.delta", "item_id": message, "delta": piece});
            let mut bytes = sse(&event);
            if bad_utf8 && n == 0 {
                break_utf8(&mut bytes, "delta");
            }
            (wait, Bytes::from(bytes))
        });
    let drip = step.drip;
    let tail = std::iter::once_with(move || now(finish(&step, &id, ending)));
    dripped(std::iter::once(now(head)).chain(pieces).chain(tail), drip)
}

/// Cuts frames into small ones.
pub fn dripped(
    frames: impl Iterator<Item = (Duration, Bytes)> + Send + 'static,
    size: Option<usize>,
) -> Box<dyn Iterator<Item = (Duration, Bytes)> + Send> {
    let Some(size) = size.filter(|size| *size > 0) else {
        return Box::new(frames);
    };
    Box::new(frames.flat_map(move |(wait, mut bytes)| {
        let mut parts = Vec::new();
        while !bytes.is_empty() {
            let part = bytes.split_to(size.min(bytes.len()));
            parts.push((
                if parts.is_empty() {
                    wait
                } else {
                    Duration::ZERO
                },
                part,
            ));
        }
        parts
    }))
}

/// Puts a byte that is no UTF-8 at the beginning of a string field.
pub fn break_utf8(event: &mut Vec<u8>, field: &str) {
    let mark = format!("\"{field}\":\"").into_bytes();
    if let Some(at) = event.windows(mark.len()).position(|window| window == mark) {
        event.insert(at + mark.len(), 0xff);
    }
}

/// One event of a stream.
pub fn sse(event: &Value) -> Vec<u8> {
    let kind = event["type"].as_str().unwrap_or("message");
    format!("event: {kind}\ndata: {event}\n\n").into_bytes()
}

fn begin(step: &Step, id: &str) -> Vec<u8> {
    let mut out =
        sse(&json!({"type": "response.created", "response": {"id": format!("resp_{id}")}}));
    if step.reasoning.is_some() || step.raw_reasoning.is_some() {
        reasoning(step, &format!("rs_{id}"), &mut out);
    }
    if step.pieces().is_some() {
        let item = json!({
            "type": "message", "role": "assistant", "id": format!("msg_{id}"), "content": [],
        });
        out.extend(sse(
            &json!({"type": "response.output_item.added", "item": item}),
        ));
    }
    out
}

fn reasoning(step: &Step, id: &str, out: &mut Vec<u8>) {
    let item = json!({"type": "reasoning", "id": id, "summary": []});
    out.extend(sse(
        &json!({"type": "response.output_item.added", "item": item}),
    ));
    let mut done = item;
    if let Some(text) = &step.reasoning {
        let part = json!({"item_id": id, "summary_index": 0});
        out.extend(sse(&with(
            &part,
            "response.reasoning_summary_part.added",
            None,
        )));
        out.extend(sse(&with(
            &part,
            "response.reasoning_summary_text.delta",
            Some(text),
        )));
        done["summary"] = json!([{"type": "summary_text", "text": text}]);
    }
    if let Some(text) = &step.raw_reasoning {
        let part = json!({"item_id": id, "content_index": 0});
        out.extend(sse(&with(
            &part,
            "response.reasoning_text.delta",
            Some(text),
        )));
        done["content"] = json!([{"type": "reasoning_text", "text": text}]);
    }
    out.extend(sse(
        &json!({"type": "response.output_item.done", "item": done}),
    ));
}

fn with(part: &Value, kind: &str, delta: Option<&String>) -> Value {
    let mut event = part.clone();
    event["type"] = kind.into();
    if let Some(delta) = delta {
        event["delta"] = delta.as_str().into();
    }
    event
}

fn finish(step: &Step, id: &str, ending: Ending) -> Vec<u8> {
    let mut out = Vec::new();
    let mut done = |item: Value| {
        out.extend(sse(
            &json!({"type": "response.output_item.done", "item": item}),
        ));
    };
    if ending == Ending::Close && step.pieces().is_some() {
        done(json!({
            "type": "message", "role": "assistant", "id": format!("msg_{id}"),
            "content": [{"type": "output_text", "text": step.full_text()}],
        }));
    }
    for item in &step.items {
        done(item.clone());
    }
    for (n, call) in step.all_calls().into_iter().enumerate() {
        done(call_item(&call, id, n));
    }
    if ending != Ending::Close {
        return out;
    }
    let response_id = format!("resp_{id}");
    out.extend(match (&step.error, &step.incomplete) {
        (Some(error), _) => sse(&json!({
            "type": "response.failed", "response": {"id": response_id, "error": error},
        })),
        (None, Some(reason)) => sse(&json!({
            "type": "response.incomplete",
            "response": {"id": response_id, "incomplete_details": {"reason": reason}},
        })),
        (None, None) => sse(&json!({
            "type": "response.completed",
            "response": {"id": response_id, "usage": usage(step)},
        })),
    });
    out
}

fn call_item(call: &Call, id: &str, n: usize) -> Value {
    let call_id = call
        .call_id
        .clone()
        .unwrap_or_else(|| format!("call_{id}_{n}"));
    if call.custom {
        json!({
            "type": "custom_tool_call", "call_id": call_id, "name": call.name,
            "input": call.arguments_text(),
        })
    } else {
        json!({
            "type": "function_call", "call_id": call_id, "name": call.name,
            "arguments": call.arguments_text(),
        })
    }
}

fn usage(step: &Step) -> Value {
    let tokens = step.usage.unwrap_or_default();
    json!({
        "input_tokens": tokens.input,
        "input_tokens_details": {"cached_tokens": tokens.cached},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": tokens.input + tokens.output,
    })
}
