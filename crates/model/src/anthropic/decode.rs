//! The events of an Anthropic Messages stream: content blocks that open, grow and close.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::encode::REDACTED;
use crate::decoder::{Context, Decode, Slots, Step, closed_early, done, incomplete};
use crate::error::ErrorKind;
use crate::event::{Completed, ModelEvent};
use crate::item::{Item, SummaryPart};
use crate::refusal::is_overflow;
use crate::structured::{OUTPUT_TOOL, without_fence};
use crate::text::Text;
use crate::usage::Usage;

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    index: Option<u32>,
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    #[serde(borrow)]
    content_block: Option<BlockStart<'a>>,
    message: Option<MessageStart>,
    usage: Option<UsageField>,
    error: Option<ErrorField>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Text<'a>>,
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    partial_json: Option<String>,
    stop_reason: Option<String>,
}

#[derive(Deserialize)]
struct BlockStart<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    id: Option<String>,
    name: Option<String>,
    data: Option<String>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct MessageStart {
    id: Option<String>,
    usage: Option<UsageField>,
}

#[derive(Deserialize)]
struct ErrorField {
    #[serde(rename = "type")]
    kind: Option<String>,
    message: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct UsageField {
    input_tokens: Option<i64>,
    cache_creation_input_tokens: Option<i64>,
    cache_read_input_tokens: Option<i64>,
    output_tokens: Option<i64>,
}

/// Reads one Anthropic stream.
#[derive(Debug)]
pub(crate) struct Decoder {
    context: Context,
    slots: Slots,
    response_id: String,
    blocks: Vec<(u32, Block)>,
    usage: UsageField,
    has_usage: bool,
    stop_reason: Option<String>,
}

/// A content block that is not closed yet.
#[derive(Debug)]
enum Block {
    Text {
        slot: u32,
        text: String,
    },
    Thinking {
        slot: u32,
        text: String,
        signature: String,
    },
    Redacted {
        data: String,
    },
    Call {
        id: String,
        name: String,
        arguments: String,
    },
    /// The arguments of the output tool, shown as the message they stand for.
    Answer {
        slot: u32,
        text: String,
    },
}

impl Decoder {
    pub(crate) fn new(context: Context, slots: Slots) -> Self {
        Self {
            context,
            slots,
            response_id: String::new(),
            blocks: Vec::new(),
            usage: UsageField::default(),
            has_usage: false,
            stop_reason: None,
        }
    }

    fn start(&mut self, index: u32, start: BlockStart<'_>, out: &mut Vec<ModelEvent>) {
        let block = match &*start.kind {
            "text" => {
                let slot = self.slots.start(&Item::empty_message(None), out);
                Block::Text {
                    slot,
                    text: String::new(),
                }
            }
            "thinking" => {
                let slot = self.slots.start(&self.thought(String::new(), None), out);
                Block::Thinking {
                    slot,
                    text: String::new(),
                    signature: String::new(),
                }
            }
            "redacted_thinking" => Block::Redacted {
                data: start.data.unwrap_or_default(),
            },
            "tool_use" => {
                let name = start.name.unwrap_or_default();
                let given = start
                    .input
                    .map(RawValue::get)
                    .filter(|input| *input != "{}");
                let arguments = given.unwrap_or_default().to_owned();
                if name == OUTPUT_TOOL && self.context.request.output_schema.is_some() {
                    let slot = self.slots.start(&Item::empty_message(None), out);
                    Block::Answer {
                        slot,
                        text: arguments,
                    }
                } else {
                    Block::Call {
                        id: start.id.unwrap_or_default(),
                        name,
                        arguments,
                    }
                }
            }
            _ => return,
        };
        self.blocks.push((index, block));
    }

    fn delta(&mut self, index: u32, delta: Delta<'_>, out: &mut Vec<ModelEvent>) {
        let Some((_, block)) = self.blocks.iter_mut().find(|(at, _)| *at == index) else {
            return;
        };
        match (block, delta.kind.as_deref().unwrap_or_default()) {
            (Block::Text { slot, text }, "text_delta") => {
                let delta = delta.text.unwrap_or_default();
                text.push_str(&delta);
                out.push(ModelEvent::TextDelta { slot: *slot, delta });
            }
            (Block::Thinking { slot, text, .. }, "thinking_delta") => {
                let delta = delta.thinking.unwrap_or_default();
                text.push_str(&delta);
                out.push(ModelEvent::ReasoningSummaryDelta {
                    slot: *slot,
                    index: 0,
                    delta,
                });
            }
            (Block::Thinking { signature, .. }, "signature_delta") => {
                signature.push_str(&delta.signature.unwrap_or_default());
            }
            (Block::Call { arguments, .. }, "input_json_delta") => {
                arguments.push_str(&delta.partial_json.unwrap_or_default());
            }
            (Block::Answer { slot, text }, "input_json_delta") => {
                let delta = delta.partial_json.unwrap_or_default();
                text.push_str(&delta);
                out.push(ModelEvent::TextDelta { slot: *slot, delta });
            }
            _ => {}
        }
    }

    fn stop(&mut self, index: u32, out: &mut Vec<ModelEvent>) {
        let Some(at) = self.blocks.iter().position(|(open, _)| *open == index) else {
            return;
        };
        match self.blocks.remove(at).1 {
            Block::Text { slot, text } => {
                let fenced = self.context.request.output_schema.is_some();
                let text = if fenced { without_fence(text) } else { text };
                done(slot, &Item::assistant(text), out);
            }
            Block::Answer { slot, text } => done(slot, &Item::assistant(text), out),
            Block::Thinking {
                slot,
                text,
                signature,
            } => {
                done(slot, &self.thought(text, Some(signature)), out);
            }
            Block::Redacted { data } => {
                let thought = self.thought(String::new(), Some(format!("{REDACTED}{data}")));
                self.slots.whole(&thought, out);
            }
            Block::Call {
                id,
                name,
                arguments,
            } => {
                let tools = &self.context.request.tools;
                let item = tools.call_item(id, name, arguments);
                self.slots.whole(&item, out);
            }
        }
    }

    fn thought(&self, text: String, signature: Option<String>) -> Item {
        let summary = if text.is_empty() {
            Vec::new()
        } else {
            vec![SummaryPart::SummaryText { text }]
        };
        Item::Reasoning {
            id: None,
            summary,
            content: None,
            maker: signature
                .is_some()
                .then(|| self.context.provider.to_string()),
            encrypted_content: signature,
        }
    }

    /// Numbers come in two halves, and later ones replace earlier ones.
    fn add_usage(&mut self, usage: Option<UsageField>) {
        let Some(usage) = usage else { return };
        self.has_usage = true;
        let known = &mut self.usage;
        known.input_tokens = usage.input_tokens.or(known.input_tokens);
        known.cache_creation_input_tokens = usage
            .cache_creation_input_tokens
            .or(known.cache_creation_input_tokens);
        known.cache_read_input_tokens = usage
            .cache_read_input_tokens
            .or(known.cache_read_input_tokens);
        known.output_tokens = usage.output_tokens.or(known.output_tokens);
    }

    fn complete(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ErrorKind> {
        let open: Vec<u32> = self.blocks.iter().map(|(index, _)| *index).collect();
        for index in open {
            self.stop(index, out);
        }
        match self.stop_reason.as_deref() {
            Some("max_tokens") => {
                return Err(ErrorKind::Unfinished(incomplete("max_output_tokens")));
            }
            Some("refusal") => return Err(ErrorKind::Unfinished(incomplete("refusal"))),
            Some("model_context_window_exceeded") => return Err(ErrorKind::ContextWindowExceeded),
            _ => {}
        }
        out.push(ModelEvent::Completed(Box::new(Completed {
            response_id: std::mem::take(&mut self.response_id),
            usage: self.has_usage.then(|| self.usage.usage()),
            output_error: None,
        })));
        Ok(())
    }
}

impl Decode for Decoder {
    fn event(&mut self, data: &str, out: &mut Vec<ModelEvent>) -> Result<Step, ErrorKind> {
        let Ok(event) = serde_json::from_str::<Event<'_>>(data) else {
            return Ok(Step::Unreadable);
        };
        let index = event.index.unwrap_or(0);
        match &*event.kind {
            "content_block_delta" => {
                let Some(delta) = event.delta else {
                    return Ok(Step::Unreadable);
                };
                self.delta(index, delta, out);
            }
            "content_block_start" => {
                let Some(start) = event.content_block else {
                    return Ok(Step::Unreadable);
                };
                self.start(index, start, out);
            }
            "content_block_stop" => self.stop(index, out),
            "message_start" => {
                let Some(message) = event.message else {
                    return Ok(Step::Unreadable);
                };
                self.response_id = message.id.unwrap_or_default();
                self.add_usage(message.usage);
            }
            "message_delta" => {
                self.add_usage(event.usage);
                self.stop_reason = event.delta.and_then(|delta| delta.stop_reason);
            }
            "message_stop" => {
                self.complete(out)?;
                return Ok(Step::Done);
            }
            "error" => return Err(reported(event.error)),
            _ => {}
        }
        Ok(Step::More)
    }

    fn end(&mut self, _out: &mut Vec<ModelEvent>) -> Result<(), ErrorKind> {
        Err(closed_early())
    }

    fn slots(&self) -> Slots {
        self.slots.clone()
    }
}

fn reported(error: Option<ErrorField>) -> ErrorKind {
    let Some(ErrorField { kind, message }) = error else {
        return ErrorKind::stream("the provider reported an error");
    };
    let message = message.unwrap_or_default();
    match kind.as_deref() {
        _ if is_overflow(&message) => ErrorKind::ContextWindowExceeded,
        Some("invalid_request_error") => ErrorKind::BadRequest(message),
        _ => ErrorKind::stream(message),
    }
}

impl UsageField {
    fn usage(&self) -> Usage {
        let cached_input = self.cache_read_input_tokens.unwrap_or(0);
        let cache_write = self.cache_creation_input_tokens.unwrap_or(0);
        let input = self.input_tokens.unwrap_or(0) + cached_input + cache_write;
        let output = self.output_tokens.unwrap_or(0);
        Usage {
            input,
            cached_input,
            cache_write,
            output,
            reasoning_output: 0,
            total: input + output,
        }
    }
}
