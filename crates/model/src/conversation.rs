//! A history as speakers taking turns, which is how the formats other than Responses see it: one
//! list of entries that their encoders print. Neighbouring entries of one speaker are joined, calls
//! are JSON functions, and every call is answered right after it, whatever came in between.

use serde_json::value::RawValue;

use crate::history::HistoryItem;
use crate::item::{ContentPart, Item, Output, OutputPart, ReasoningPart, ShellAction, SummaryPart};
use crate::tools::CUSTOM_INPUT;

/// One speaker's turn.
#[derive(Debug, PartialEq)]
pub(crate) enum Entry {
    User(Vec<Part>),
    Assistant(Vec<Block>),
    Results(Vec<CallResult>),
}

/// A piece of what a person or a tool gives.
#[derive(Debug, PartialEq)]
pub(crate) enum Part {
    Text(String),
    Image { url: String, detail: Option<String> },
}

/// A piece of what the model said.
#[derive(Debug, PartialEq)]
pub(crate) enum Block {
    Text(String),
    /// Reasoning that this provider made itself.
    Reasoning {
        text: String,
        signature: Option<String>,
    },
    Call {
        id: String,
        name: String,
        arguments: Arguments,
    },
}

/// A call's arguments: always the text of a JSON object.
#[derive(Debug)]
pub(crate) struct Arguments(pub(crate) Box<RawValue>);

impl PartialEq for Arguments {
    fn eq(&self, other: &Self) -> bool {
        self.0.get() == other.0.get()
    }
}

/// What a call returned.
#[derive(Debug, PartialEq)]
pub(crate) struct CallResult {
    pub(crate) call_id: String,
    pub(crate) parts: Vec<Part>,
}

/// A whole conversation.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Conversation {
    /// What developers said before anybody else spoke.
    pub(crate) preface: Vec<String>,
    pub(crate) entries: Vec<Entry>,
}

impl Conversation {
    /// Reads a repaired history as the provider of that id may see it.
    pub(crate) fn new(history: &[HistoryItem], provider: &str) -> Self {
        let mut builder = Builder::default();
        for item in history {
            let Ok(parsed) = serde_json::from_str::<Item>(item.raw().get()) else {
                tracing::warn!(kind = ?item.kind(), "a history item could not be mapped");
                continue;
            };
            builder.add(parsed, item.made_by(provider));
        }
        builder.flush();
        builder.conversation
    }

    /// Whether the last thing that happened is a tool's answer, so the model goes on with a turn.
    pub(crate) fn is_mid_turn(&self) -> bool {
        matches!(self.entries.last(), Some(Entry::Results(_)))
    }
}

#[derive(Default)]
struct Builder {
    conversation: Conversation,
    /// Calls not answered yet, in call order, with their answers as they come.
    pending: Vec<(String, Option<CallResult>)>,
    /// What people said meanwhile.
    held: Vec<Vec<Part>>,
    spoken: bool,
}

impl Builder {
    fn add(&mut self, item: Item, own: bool) {
        match item {
            Item::Message { role, content, .. } => self.message(&role, content),
            Item::Reasoning {
                summary,
                content,
                encrypted_content,
                ..
            } if own => {
                let text = reasoning_text(summary, content);
                self.assistant(Block::Reasoning {
                    text,
                    signature: encrypted_content,
                });
            }
            Item::FunctionCall {
                name,
                arguments,
                call_id,
                ..
            } => {
                self.call(call_id, name, object(arguments));
            }
            Item::CustomToolCall {
                call_id,
                name,
                input,
                ..
            } => {
                self.call(call_id, name, wrapped(CUSTOM_INPUT, &input));
            }
            Item::LocalShellCall {
                call_id: Some(call_id),
                action,
                ..
            } => {
                let ShellAction::Exec { command, .. } = action;
                let arguments = serde_json::json!({ "command": command }).to_string();
                self.call(call_id, "local_shell".into(), object(arguments));
            }
            Item::FunctionCallOutput { call_id, output }
            | Item::CustomToolCallOutput {
                call_id, output, ..
            } => self.result(call_id, output),
            // The rest is private to the provider that made it.
            _ => {}
        }
    }

    fn message(&mut self, role: &str, content: Vec<ContentPart>) {
        if role == "assistant" {
            for part in content {
                if let ContentPart::OutputText { text } | ContentPart::InputText { text } = part
                    && !text.is_empty()
                {
                    self.assistant(Block::Text(text));
                }
            }
            return;
        }
        let parts = content.into_iter().filter_map(part).collect::<Vec<_>>();
        if parts.is_empty() {
            return;
        }
        if matches!(role, "developer" | "system") && !self.spoken {
            let texts = parts.into_iter().filter_map(|part| match part {
                Part::Text(text) => Some(text),
                Part::Image { .. } => None,
            });
            self.conversation.preface.extend(texts);
            return;
        }
        self.spoken = true;
        if self.pending.is_empty() {
            self.user(parts);
        } else {
            self.held.push(parts);
        }
    }

    fn user(&mut self, parts: Vec<Part>) {
        match self.conversation.entries.last_mut() {
            Some(Entry::User(before)) => before.extend(parts),
            _ => self.conversation.entries.push(Entry::User(parts)),
        }
    }

    fn assistant(&mut self, block: Block) {
        self.spoken = true;
        match self.conversation.entries.last_mut() {
            Some(Entry::Assistant(blocks)) => blocks.push(block),
            _ => self
                .conversation
                .entries
                .push(Entry::Assistant(vec![block])),
        }
    }

    fn call(&mut self, id: String, name: String, arguments: Arguments) {
        self.pending.push((id.clone(), None));
        self.assistant(Block::Call {
            id,
            name,
            arguments,
        });
    }

    fn result(&mut self, call_id: String, output: Output) {
        let open = self
            .pending
            .iter_mut()
            .find(|(id, result)| *id == call_id && result.is_none());
        let Some((_, result)) = open else { return };
        let parts = match output {
            Output::Text(text) => vec![Part::Text(text)],
            Output::Parts(parts) => parts
                .into_iter()
                .map(|part| match part {
                    OutputPart::InputText { text } => Part::Text(text),
                    OutputPart::InputImage { image_url, detail } => Part::Image {
                        url: image_url,
                        detail,
                    },
                })
                .collect(),
        };
        *result = Some(CallResult { call_id, parts });
        if self.pending.iter().all(|(_, result)| result.is_some()) {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let results: Vec<_> = self
            .pending
            .drain(..)
            .filter_map(|(_, result)| result)
            .collect();
        if !results.is_empty() {
            self.conversation.entries.push(Entry::Results(results));
        }
        for parts in std::mem::take(&mut self.held) {
            self.user(parts);
        }
    }
}

fn part(part: ContentPart) -> Option<Part> {
    match part {
        ContentPart::InputText { text } | ContentPart::OutputText { text } => {
            (!text.is_empty()).then_some(Part::Text(text))
        }
        ContentPart::InputImage { image_url } => Some(Part::Image {
            url: image_url,
            detail: None,
        }),
    }
}

fn reasoning_text(summary: Vec<SummaryPart>, content: Option<Vec<ReasoningPart>>) -> String {
    let raw: Vec<String> = content
        .into_iter()
        .flatten()
        .map(|part| match part {
            ReasoningPart::ReasoningText { text } | ReasoningPart::Text { text } => text,
        })
        .collect();
    if !raw.is_empty() {
        return raw.concat();
    }
    summary
        .into_iter()
        .map(|SummaryPart::SummaryText { text }| text)
        .collect::<Vec<_>>()
        .concat()
}

/// Arguments that are no JSON object would make a provider refuse the whole history, so they are
/// shown to it inside one.
fn object(arguments: String) -> Arguments {
    let is_object = arguments.trim_start().starts_with('{');
    match RawValue::from_string(arguments.clone()) {
        Ok(raw) if is_object => Arguments(raw),
        _ if arguments.trim().is_empty() => wrapped_object(serde_json::Map::new()),
        _ => wrapped("invalid_json", &arguments),
    }
}

fn wrapped(field: &str, text: &str) -> Arguments {
    let mut map = serde_json::Map::new();
    map.insert(field.into(), text.into());
    wrapped_object(map)
}

fn wrapped_object(map: serde_json::Map<String, serde_json::Value>) -> Arguments {
    let raw = serde_json::value::to_raw_value(&map);
    Arguments(raw.unwrap_or_else(|_| RawValue::NULL.to_owned()))
}
