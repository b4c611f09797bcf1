//! The chunks of a Chat Completions stream. Servers differ in where they put reasoning, whether a
//! call has an index or an id, and whether the last chunk carries usage; all of it is accepted.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::decoder::{Context, Decode, Slots, Step, closed_early, done, incomplete};
use crate::error::ErrorKind;
use crate::event::{Completed, ModelEvent};
use crate::item::{Item, ReasoningPart};
use crate::refusal::is_overflow;
use crate::structured::{OUTPUT_TOOL, without_fence};
use crate::text::Text;
use crate::usage::Usage;

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow, default)]
    choices: Vec<Choice<'a>>,
    usage: Option<UsageField>,
    x_groq: Option<Groq>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    content: Option<String>,
    refusal: Option<String>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    #[serde(borrow)]
    tool_calls: Option<Vec<CallDelta<'a>>>,
}

#[derive(Deserialize)]
struct CallDelta<'a> {
    index: Option<u32>,
    id: Option<String>,
    #[serde(borrow)]
    function: Option<FunctionDelta<'a>>,
}

#[derive(Deserialize)]
struct FunctionDelta<'a> {
    name: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Groq {
    usage: Option<UsageField>,
}

#[derive(Deserialize)]
struct UsageField {
    #[serde(default)]
    prompt_tokens: i64,
    #[serde(default)]
    completion_tokens: i64,
    total_tokens: Option<i64>,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<CompletionDetails>,
    prompt_cache_hit_tokens: Option<i64>,
}

#[derive(Deserialize)]
struct PromptDetails {
    cached_tokens: Option<i64>,
}

#[derive(Deserialize)]
struct CompletionDetails {
    reasoning_tokens: Option<i64>,
}

/// Reads one Chat Completions stream.
#[derive(Debug)]
pub(crate) struct Decoder {
    context: Context,
    slots: Slots,
    response_id: String,
    open: Option<Open>,
    calls: Vec<Call>,
    finish_reason: Option<String>,
    usage: Option<Usage>,
}

/// The message or the reasoning being written.
#[derive(Debug)]
struct Open {
    slot: u32,
    is_reasoning: bool,
    text: String,
}

#[derive(Debug, Default)]
struct Call {
    index: u32,
    id: String,
    name: String,
    arguments: String,
}

impl Decoder {
    pub(crate) fn new(context: Context, slots: Slots) -> Self {
        Self {
            context,
            slots,
            response_id: String::new(),
            open: None,
            calls: Vec::new(),
            finish_reason: None,
            usage: None,
        }
    }

    fn delta(&mut self, delta: Delta<'_>, out: &mut Vec<ModelEvent>) {
        let reasoning = delta
            .reasoning_content
            .or(delta.reasoning)
            .filter(|text| !text.is_empty());
        if let Some(delta) = reasoning {
            let slot = self.write(true, &delta, out);
            out.push(ModelEvent::ReasoningTextDelta {
                slot,
                index: 0,
                delta,
            });
        }
        let content = delta.content.filter(|text| !text.is_empty());
        if let Some(delta) = content.or(delta.refusal.filter(|text| !text.is_empty())) {
            let slot = self.write(false, &delta, out);
            out.push(ModelEvent::TextDelta { slot, delta });
        }
        for call in delta.tool_calls.into_iter().flatten() {
            self.call(call);
        }
    }

    /// Adds text to the open message or reasoning, beginning one if need be.
    fn write(&mut self, is_reasoning: bool, text: &str, out: &mut Vec<ModelEvent>) -> u32 {
        if self
            .open
            .as_ref()
            .is_some_and(|open| open.is_reasoning != is_reasoning)
        {
            self.close(out);
        }
        let open = self.open.get_or_insert_with(|| {
            let item = if is_reasoning {
                reasoning(None, "")
            } else {
                Item::empty_message(None)
            };
            Open {
                slot: self.slots.start(&item, out),
                is_reasoning,
                text: String::new(),
            }
        });
        open.text.push_str(text);
        open.slot
    }

    fn close(&mut self, out: &mut Vec<ModelEvent>) {
        let Some(Open {
            slot,
            is_reasoning,
            text,
        }) = self.open.take()
        else {
            return;
        };
        let item = if is_reasoning {
            reasoning(Some(text), &self.context.provider)
        } else if self.context.request.output_schema.is_some() {
            Item::assistant(without_fence(text))
        } else {
            Item::assistant(text)
        };
        done(slot, &item, out);
    }

    /// A piece of a call: by index, else by a new id, else more of the last one.
    fn call(&mut self, delta: CallDelta<'_>) {
        let id = delta.id.unwrap_or_default();
        let known = match delta.index {
            Some(index) => self.calls.iter().position(|call| call.index == index),
            None if id.is_empty() => self.calls.len().checked_sub(1),
            None => self.calls.iter().position(|call| call.id == id),
        };
        let at = known.unwrap_or_else(|| {
            let index = delta.index.unwrap_or(self.calls.len() as u32);
            self.calls.push(Call {
                index,
                ..Call::default()
            });
            self.calls.len() - 1
        });
        let call = &mut self.calls[at];
        if call.id.is_empty() {
            call.id = id;
        }
        let Some(function) = delta.function else {
            return;
        };
        if let Some(name) = function.name
            && call.name.is_empty()
        {
            call.name = name;
        }
        if let Some(arguments) = function
            .arguments
            .map(RawValue::get)
            .filter(|raw| *raw != "null")
        {
            match serde_json::from_str::<String>(arguments) {
                Ok(text) => call.arguments.push_str(&text),
                Err(_) => call.arguments.push_str(arguments),
            }
        }
    }

    fn call_item(&self, call: Call) -> Item {
        let Call {
            id,
            name,
            arguments,
            ..
        } = call;
        if name == OUTPUT_TOOL && self.context.request.output_schema.is_some() {
            return Item::assistant(arguments);
        }
        // Some servers number calls again in every answer; two calls of a thread must not share an id.
        let fresh = !id.is_empty() && !self.context.knows_call(&id);
        let call_id = if fresh {
            id
        } else {
            format!("call_{}", uuid::Uuid::new_v4().simple())
        };
        let tools = &self.context.request.tools;
        tools.call_item(call_id, name, arguments)
    }
}

impl Decode for Decoder {
    fn event(&mut self, data: &str, out: &mut Vec<ModelEvent>) -> Result<Step, ErrorKind> {
        if data.trim() == "[DONE]" {
            self.finish_reason.get_or_insert_with(|| "stop".into());
            self.end(out)?;
            return Ok(Step::Done);
        }
        let Ok(chunk) = serde_json::from_str::<Chunk<'_>>(data) else {
            return Ok(Step::Unreadable);
        };
        if let Some(error) = chunk.error.filter(|raw| raw.get() != "null") {
            return Err(reported(error));
        }
        if let Some(id) = chunk.id
            && self.response_id.is_empty()
        {
            self.response_id = id.0.into_owned();
        }
        if let Some(usage) = chunk.usage.or(chunk.x_groq.and_then(|groq| groq.usage)) {
            self.usage = Some(usage.usage());
        }
        if let Some(choice) = chunk.choices.into_iter().next() {
            if let Some(delta) = choice.delta {
                self.delta(delta, out);
            }
            if choice.finish_reason.is_some() {
                self.finish_reason = choice.finish_reason;
            }
        }
        Ok(Step::More)
    }

    /// The stream is over; what it held decides whether the answer is complete.
    fn end(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ErrorKind> {
        let Some(reason) = self.finish_reason.take() else {
            return Err(closed_early());
        };
        self.close(out);
        match reason.as_str() {
            "length" => return Err(ErrorKind::Unfinished(incomplete("max_output_tokens"))),
            "content_filter" => return Err(ErrorKind::Unfinished(incomplete("content_filter"))),
            _ => {}
        }
        self.calls.sort_by_key(|call| call.index);
        for call in std::mem::take(&mut self.calls) {
            let item = self.call_item(call);
            self.slots.whole(&item, out);
        }
        out.push(ModelEvent::Completed(Box::new(Completed {
            response_id: std::mem::take(&mut self.response_id),
            usage: self.usage.take(),
            output_error: None,
        })));
        Ok(())
    }

    fn slots(&self) -> Slots {
        self.slots.clone()
    }
}

fn reasoning(text: Option<String>, provider: &str) -> Item {
    Item::Reasoning {
        id: None,
        summary: Vec::new(),
        content: text.map(|text| vec![ReasoningPart::ReasoningText { text }]),
        encrypted_content: None,
        maker: (!provider.is_empty()).then(|| provider.to_owned()),
    }
}

/// An error inside the stream: a text, or an object with a message.
fn reported(error: &RawValue) -> ErrorKind {
    #[derive(Deserialize)]
    struct Fields {
        message: Option<String>,
        code: Option<serde_json::Value>,
    }
    let whole = |message: String| Fields {
        message: Some(message),
        code: None,
    };
    let fields =
        serde_json::from_str(error.get()).or_else(|_| serde_json::from_str(error.get()).map(whole));
    let Fields { message, code } = fields.unwrap_or_else(|_| whole(error.get().to_owned()));
    let message = message.unwrap_or_else(|| error.get().to_owned());
    if is_overflow(&message) {
        return ErrorKind::ContextWindowExceeded;
    }
    match code.as_ref().and_then(serde_json::Value::as_str) {
        Some("context_length_exceeded") => ErrorKind::ContextWindowExceeded,
        Some("insufficient_quota") => ErrorKind::QuotaExceeded,
        _ => ErrorKind::stream(message),
    }
}

impl UsageField {
    fn usage(self) -> Usage {
        let cached = self
            .prompt_tokens_details
            .and_then(|details| details.cached_tokens);
        let reasoning = self
            .completion_tokens_details
            .and_then(|details| details.reasoning_tokens);
        Usage {
            input: self.prompt_tokens,
            cached_input: cached.or(self.prompt_cache_hit_tokens).unwrap_or(0),
            cache_write: 0,
            output: self.completion_tokens,
            reasoning_output: reasoning.unwrap_or(0),
            total: self
                .total_tokens
                .unwrap_or(self.prompt_tokens + self.completion_tokens),
        }
    }
}
