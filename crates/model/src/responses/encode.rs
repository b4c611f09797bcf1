//! A request as the body of `POST /responses`. History items are copied into it byte for byte.

use std::borrow::Cow;

use quipu_wire::{ReasoningEffort, ReasoningSummary, ServiceTier, Verbosity};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::history::HistoryItem;
use crate::item::ItemKind;
use crate::provider::{ProviderConfig, WireApi};
use crate::request::{Reasoning, Request, ToolChoice};

/// The name under which a wanted output shape is sent.
pub(crate) const SCHEMA_NAME: &str = "codex_output_schema";

#[derive(Serialize)]
struct Body<'a> {
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    model: &'a str,
    instructions: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_response_id: Option<&'a str>,
    input: Vec<Cow<'a, RawValue>>,
    tools: &'a RawValue,
    tool_choice: Value,
    parallel_tool_calls: bool,
    reasoning: Option<ReasoningField>,
    store: bool,
    stream: bool,
    include: &'static [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    service_tier: Option<&'a str>,
    prompt_cache_key: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<TextField<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generate: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_metadata: Option<ClientMetadata<'a>>,
}

/// What is in headers of a request over HTTP.
#[derive(Serialize)]
struct ClientMetadata<'a> {
    #[serde(
        rename = "x-codex-turn-metadata",
        skip_serializing_if = "Option::is_none"
    )]
    turn_metadata: Option<&'a str>,
    #[serde(
        rename = "ws_request_header_traceparent",
        skip_serializing_if = "Option::is_none"
    )]
    traceparent: Option<&'a str>,
}

/// What a request over a websocket has besides what all have.
#[derive(Default)]
pub(super) struct Form<'a> {
    /// The response that the input continues.
    pub previous_response_id: Option<&'a str>,
    /// `false` if nothing is to be answered.
    pub generate: Option<bool>,
    pub turn_metadata: Option<&'a str>,
    /// Where the request is in a trace.
    pub traceparent: Option<&'a str>,
}

#[derive(Serialize)]
struct CompactBody<'a> {
    model: &'a str,
    input: Vec<Cow<'a, RawValue>>,
    instructions: &'a str,
    tools: &'a RawValue,
    parallel_tool_calls: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<ReasoningField>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<TextField<'a>>,
}

#[derive(Serialize)]
struct ReasoningField {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<ReasoningEffort>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<ReasoningSummary>,
}

#[derive(Serialize)]
struct TextField<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    verbosity: Option<Verbosity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Format<'a>>,
}

#[derive(Serialize)]
struct Format<'a> {
    r#type: &'static str,
    strict: bool,
    schema: &'a RawValue,
    name: &'static str,
}

/// The body of a sampling request.
pub(crate) fn body(
    request: &Request,
    history: &[HistoryItem],
    provider: &ProviderConfig,
) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&plain(request, history, provider))
}

/// The message that asks over a websocket.
pub(super) fn socket_body(
    request: &Request,
    history: &[HistoryItem],
    provider: &ProviderConfig,
    form: Form<'_>,
) -> serde_json::Result<String> {
    let metadata = ClientMetadata {
        turn_metadata: form.turn_metadata,
        traceparent: form.traceparent,
    };
    let has_metadata = form.turn_metadata.is_some() || form.traceparent.is_some();
    serde_json::to_string(&Body {
        kind: Some("response.create"),
        previous_response_id: form.previous_response_id,
        generate: form.generate,
        client_metadata: has_metadata.then_some(metadata),
        ..plain(request, history, provider)
    })
}

fn plain<'a>(
    request: &'a Request,
    history: &'a [HistoryItem],
    provider: &ProviderConfig,
) -> Body<'a> {
    let include: &'static [&'static str] = if request.reasoning.is_some() {
        &["reasoning.encrypted_content"]
    } else {
        &[]
    };
    Body {
        kind: None,
        model: &request.model,
        instructions: &request.instructions,
        previous_response_id: None,
        input: input(history, provider.is_azure()),
        tools: request.tools.printed(WireApi::Responses, |specs| specs),
        tool_choice: match &request.tool_choice {
            ToolChoice::Auto => "auto".into(),
            ToolChoice::Function(name) => json!({"type": "function", "name": name}),
        },
        parallel_tool_calls: request.parallel_tool_calls,
        reasoning: request.reasoning.as_ref().map(reasoning),
        store: provider.is_azure(),
        stream: true,
        include,
        service_tier: request.service_tier.as_ref().and_then(|tier| match tier {
            ServiceTier::Fast => Some("priority"),
            ServiceTier::Flex => Some("flex"),
            ServiceTier::Default => None,
            ServiceTier::Unrecognized(word) => Some(word.as_str()),
        }),
        prompt_cache_key: &request.prompt_cache_key,
        text: text(request),
        generate: None,
        client_metadata: None,
    }
}

/// The body of `POST /responses/compact`.
pub(crate) fn compact_body(
    request: &Request,
    history: &[HistoryItem],
    provider: &ProviderConfig,
) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&CompactBody {
        model: &request.model,
        input: input(history, provider.is_azure()),
        instructions: &request.instructions,
        tools: request.tools.printed(WireApi::Responses, |specs| specs),
        parallel_tool_calls: request.parallel_tool_calls,
        reasoning: request.reasoning.as_ref().map(reasoning),
        text: text(request),
    })
}

fn reasoning(reasoning: &Reasoning) -> ReasoningField {
    ReasoningField {
        effort: reasoning.effort,
        summary: reasoning.summary.filter(|summary| {
            !matches!(
                summary,
                ReasoningSummary::None | ReasoningSummary::Unrecognized
            )
        }),
    }
}

fn text(request: &Request) -> Option<TextField<'_>> {
    let format = request.output_schema.as_deref().map(|schema| Format {
        r#type: "json_schema",
        strict: true,
        schema,
        name: SCHEMA_NAME,
    });
    let verbosity = request
        .verbosity
        .filter(|it| *it != Verbosity::Unrecognized);
    (verbosity.is_some() || format.is_some()).then_some(TextField { verbosity, format })
}

/// A provider that stores responses knows items by id and gets them back with it.
fn input(history: &[HistoryItem], with_ids: bool) -> Vec<Cow<'_, RawValue>> {
    history
        .iter()
        .map(|item| {
            let id = item
                .id()
                .filter(|_| with_ids && item.kind() != ItemKind::Compaction);
            match id.and_then(|id| with_id(item.raw(), id)) {
                Some(raw) => Cow::Owned(raw),
                None => Cow::Borrowed(item.raw()),
            }
        })
        .collect()
}

fn with_id(raw: &RawValue, id: &str) -> Option<Box<RawValue>> {
    let body = raw.get().trim_end().strip_suffix('}')?;
    let id = serde_json::to_string(id).ok()?;
    RawValue::from_string(format!("{body},\"id\":{id}}}")).ok()
}
