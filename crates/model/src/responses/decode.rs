//! The events of a Responses stream. Only the JSON counts, keyed on its `type`; a delta costs one
//! pass over the event and one allocation, its text.
//!
//! Items are distinguished by id where the provider gives one. A delta without an open item opens
//! one, and an item may be done without having been announced: order is tolerated, not trusted.

use reqwest::header::HeaderMap;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::decoder::{Context, Decode, Slots, Step, done, incomplete};
use crate::error::ErrorKind;
use crate::event::{Completed, ModelEvent};
use crate::item::{Item, ItemKind};
use crate::rate_limits::{self, text};
use crate::retry::retry_after_text;
use crate::text::Text;
use crate::usage::Usage;

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    item_id: Option<Text<'a>>,
    #[serde(borrow)]
    delta: Option<&'a RawValue>,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
    #[serde(borrow)]
    headers: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<Text<'a>>,
    summary_index: Option<u32>,
    content_index: Option<u32>,
}

/// Reads one Responses stream.
#[derive(Debug)]
pub(crate) struct Decoder {
    context: Context,
    slots: Slots,
    open: Vec<Open>,
    rerouted: bool,
}

#[derive(Debug)]
struct Open {
    slot: u32,
    kind: ItemKind,
    id: Option<String>,
}

impl Decoder {
    pub(crate) fn new(context: Context, slots: Slots) -> Self {
        Self {
            context,
            slots,
            open: Vec::new(),
            rerouted: false,
        }
    }

    /// The open item that a delta belongs to: by id, else the newest of the kind, else a new one.
    fn slot_for(&mut self, kind: ItemKind, event: &Event<'_>, out: &mut Vec<ModelEvent>) -> u32 {
        let id = event.item_id.as_deref();
        let of_kind = || self.open.iter().rev().filter(|open| open.kind == kind);
        let by_id = of_kind().find(|open| id.is_some() && open.id.as_deref() == id);
        if let Some(open) = by_id.or_else(|| of_kind().next()) {
            return open.slot;
        }
        let id = id.map(str::to_owned);
        let item = match kind {
            ItemKind::Reasoning => Item::Reasoning {
                id: id.clone(),
                summary: Vec::new(),
                content: None,
                encrypted_content: None,
                maker: None,
            },
            _ => Item::empty_message(id.clone()),
        };
        let slot = self.slots.start(&item, out);
        self.open.push(Open { slot, kind, id });
        slot
    }

    fn added(&mut self, item: Option<&RawValue>, out: &mut Vec<ModelEvent>) {
        let Some(Ok(item)) = item.map(|raw| serde_json::from_str::<Item>(raw.get())) else {
            return;
        };
        let kind = item.kind();
        let announced = matches!(
            kind,
            ItemKind::Message
                | ItemKind::Reasoning
                | ItemKind::WebSearchCall
                | ItemKind::ImageGenerationCall
        );
        if announced {
            let slot = self.slots.start(&item, out);
            self.open.push(Open {
                slot,
                kind,
                id: item.id().map(str::to_owned),
            });
        }
    }

    fn item_done(&mut self, item: Option<&RawValue>, out: &mut Vec<ModelEvent>) -> Step {
        let Some(Ok(mut item)) = item.map(|raw| serde_json::from_str::<Item>(raw.get())) else {
            return Step::Unreadable;
        };
        if item == Item::Other {
            return Step::More;
        }
        item.mark_maker(&self.context.provider);
        let kind = item.kind();
        let by_id = self
            .open
            .iter()
            .position(|open| open.id.is_some() && open.id.as_deref() == item.id());
        let found = by_id.or_else(|| self.open.iter().position(|open| open.kind == kind));
        match found {
            Some(at) => done(self.open.remove(at).slot, &item, out),
            None => self.slots.whole(&item, out),
        }
        Step::More
    }

    fn completed(
        &mut self,
        event: &Event<'_>,
        out: &mut Vec<ModelEvent>,
    ) -> Result<Step, ErrorKind> {
        self.served_by(event, out);
        let response = event.response.map_or("{}", RawValue::get);
        let response: Response = serde_json::from_str(response).map_err(|error| {
            let text = error.to_string();
            let reason = text.split(" at line ").next().unwrap_or_default();
            ErrorKind::stream(format!("failed to parse ResponseCompleted: {reason}"))
        })?;
        out.push(ModelEvent::Completed(Box::new(Completed {
            response_id: response.id,
            usage: response.usage.map(UsageField::usage),
            output_error: None,
        })));
        Ok(Step::Done)
    }

    /// Some events repeat response headers; they may name the model that answers.
    fn served_by(&mut self, event: &Event<'_>, out: &mut Vec<ModelEvent>) {
        #[derive(Deserialize)]
        struct Headed<'a> {
            #[serde(borrow)]
            headers: Option<&'a RawValue>,
        }
        if self.rerouted {
            return;
        }
        // Most responses have none; they are long, and not parsed for nothing.
        let nested = event
            .response
            .filter(|raw| raw.get().contains("\"headers\""))
            .and_then(|raw| serde_json::from_str::<Headed<'_>>(raw.get()).ok()?.headers);
        let headers = nested.or(event.headers);
        let Some(Ok(headers)) = headers.map(|raw| {
            serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(raw.get())
        }) else {
            return;
        };
        let served = headers.iter().find(|(name, _)| {
            let name = name.to_ascii_lowercase();
            name == "openai-model" || name == "x-openai-model"
        });
        let model = served.and_then(|(_, value)| match value {
            serde_json::Value::Array(values) => values.first()?.as_str(),
            value => value.as_str(),
        });
        if let Some(model) = model {
            self.report_model(model, out);
        }
    }

    /// Tells once that another model answers than the one asked for.
    pub(crate) fn report_model(&mut self, model: &str, out: &mut Vec<ModelEvent>) {
        if !self.rerouted && !model.eq_ignore_ascii_case(&self.context.request.model) {
            self.rerouted = true;
            out.push(ModelEvent::ModelRerouted {
                model: model.to_owned(),
            });
        }
    }
}

impl Decode for Decoder {
    fn headers(&mut self, headers: &HeaderMap, out: &mut Vec<ModelEvent>) {
        if let Some(state) = text(headers, "x-codex-turn-state") {
            self.context.request.meta.turn_state.set(state);
        }
        if let Some(model) = text(headers, "openai-model") {
            self.report_model(model, out);
        }
    }

    fn event(&mut self, data: &str, out: &mut Vec<ModelEvent>) -> Result<Step, ErrorKind> {
        let Ok(event) = serde_json::from_str::<Event<'_>>(data) else {
            return Ok(Step::Unreadable);
        };
        match &*event.kind {
            "response.output_text.delta" => {
                let Some(delta) = text_of(event.delta) else {
                    return Ok(Step::Unreadable);
                };
                let slot = self.slot_for(ItemKind::Message, &event, out);
                out.push(ModelEvent::TextDelta { slot, delta });
            }
            "response.reasoning_summary_text.delta" => {
                let Some(delta) = text_of(event.delta) else {
                    return Ok(Step::Unreadable);
                };
                let slot = self.slot_for(ItemKind::Reasoning, &event, out);
                let index = event.summary_index.unwrap_or(0);
                out.push(ModelEvent::ReasoningSummaryDelta { slot, index, delta });
            }
            "response.reasoning_text.delta" => {
                let Some(delta) = text_of(event.delta) else {
                    return Ok(Step::Unreadable);
                };
                let slot = self.slot_for(ItemKind::Reasoning, &event, out);
                let index = event.content_index.unwrap_or(0);
                out.push(ModelEvent::ReasoningTextDelta { slot, index, delta });
            }
            "response.reasoning_summary_part.added" => {
                let slot = self.slot_for(ItemKind::Reasoning, &event, out);
                let index = event.summary_index.unwrap_or(0);
                out.push(ModelEvent::ReasoningPartAdded { slot, index });
            }
            "response.output_item.added" => self.added(event.item, out),
            "response.output_item.done" => return Ok(self.item_done(event.item, out)),
            "response.completed" => return self.completed(&event, out),
            "response.failed" => return Err(failure(event.response)),
            "response.incomplete" => return Err(ErrorKind::stream(cut_short(event.response))),
            "codex.rate_limits" => match rate_limits::from_event(data) {
                Some(limits) => out.push(ModelEvent::RateLimits(Box::new(limits))),
                None => return Ok(Step::Unreadable),
            },
            "error" => {
                let message = event
                    .message
                    .as_deref()
                    .unwrap_or("the provider reported an error");
                return Err(ErrorKind::stream(message));
            }
            _ => self.served_by(&event, out),
        }
        Ok(Step::More)
    }

    fn end(&mut self, _out: &mut Vec<ModelEvent>) -> Result<(), ErrorKind> {
        Err(ErrorKind::stream("stream closed before response.completed"))
    }

    fn slots(&self) -> Slots {
        self.slots.clone()
    }
}

fn text_of(raw: Option<&RawValue>) -> Option<String> {
    let json = raw?.get();
    let inner = json.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    match inner {
        // Without escapes it is its own text.
        Some(text) if !text.contains('\\') => Some(text.to_owned()),
        _ => serde_json::from_str(json).ok(),
    }
}

#[derive(Deserialize)]
struct Response {
    id: String,
    usage: Option<UsageField>,
}

#[derive(Deserialize)]
struct UsageField {
    input_tokens: i64,
    #[serde(default)]
    input_tokens_details: Option<InputDetails>,
    output_tokens: i64,
    #[serde(default)]
    output_tokens_details: Option<OutputDetails>,
    total_tokens: i64,
}

#[derive(Deserialize)]
struct InputDetails {
    #[serde(default)]
    cached_tokens: i64,
}

#[derive(Deserialize)]
struct OutputDetails {
    #[serde(default)]
    reasoning_tokens: i64,
}

impl UsageField {
    fn usage(self) -> Usage {
        Usage {
            input: self.input_tokens,
            cached_input: self
                .input_tokens_details
                .map_or(0, |details| details.cached_tokens),
            cache_write: 0,
            output: self.output_tokens,
            reasoning_output: self
                .output_tokens_details
                .map_or(0, |details| details.reasoning_tokens),
            total: self.total_tokens,
        }
    }
}

#[derive(Default, Deserialize)]
struct Failed {
    error: Option<FailedError>,
    incomplete_details: Option<IncompleteDetails>,
}

#[derive(Deserialize)]
struct FailedError {
    code: Option<String>,
    message: Option<String>,
}

#[derive(Deserialize)]
struct IncompleteDetails {
    reason: Option<String>,
}

fn failed(response: Option<&RawValue>) -> Failed {
    response
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default()
}

fn failure(response: Option<&RawValue>) -> ErrorKind {
    let Some(error) = failed(response).error else {
        return ErrorKind::stream("response.failed event received");
    };
    let message = error.message;
    match error.code.as_deref() {
        Some("context_length_exceeded") => ErrorKind::ContextWindowExceeded,
        Some("insufficient_quota") => ErrorKind::QuotaExceeded,
        Some("usage_not_included") => ErrorKind::UsageNotIncluded,
        Some("server_is_overloaded" | "slow_down") => ErrorKind::ServerOverloaded,
        Some("invalid_prompt") => {
            ErrorKind::InvalidPrompt(message.unwrap_or_else(|| "Invalid request.".into()))
        }
        code => {
            let reason = message.unwrap_or_default();
            let limited = code == Some("rate_limit_exceeded");
            let retry_after = limited.then(|| retry_after_text(&reason)).flatten();
            ErrorKind::Stream {
                reason,
                retry_after,
            }
        }
    }
}

fn cut_short(response: Option<&RawValue>) -> String {
    let reason = failed(response)
        .incomplete_details
        .and_then(|details| details.reason);
    incomplete(reason.as_deref().unwrap_or("unknown"))
}
