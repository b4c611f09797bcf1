//! Items of a model's answer: what providers send, as the engine has it.

use quipu_engine::{CallKind, GeneratedImage, ModelItem, ToolCall};
use quipu_model::ItemKind;
use quipu_wire::{Json, ResponseItem};

use super::web_search;

/// An item of the provider as the engine has it; none if it cannot be read.
pub(super) fn model_item(kind: ItemKind, raw: &Json) -> Option<ModelItem> {
    let parsed: ResponseItem = match raw.parse() {
        Ok(item) => item,
        Err(error) => {
            tracing::warn!(%error, ?kind, "invalid model item");
            return None;
        }
    };
    Some(match parsed {
        ResponseItem::Message {
            role,
            content,
            phase,
            ..
        } if role == "assistant" => ModelItem::Message {
            text: Some(text_of(&content)),
            phase,
        },
        ResponseItem::Reasoning {
            summary, content, ..
        } => ModelItem::Reasoning {
            summary: summary.into_iter().filter_map(summary_text).collect(),
            content: content
                .unwrap_or_default()
                .into_iter()
                .filter_map(reasoning_text)
                .collect(),
        },
        ResponseItem::WebSearchCall { action, .. } => {
            let action = action.map(web_search::action);
            ModelItem::WebSearch {
                query: action.as_ref().map_or_else(String::new, web_search::query),
                action,
            }
        }
        ResponseItem::ImageGenerationCall {
            status,
            revised_prompt,
            result,
            ..
        } => ModelItem::ImageGeneration(GeneratedImage {
            status,
            revised_prompt,
            result,
        }),
        call => tool_call(call, raw).map_or(ModelItem::Other, ModelItem::Call),
    })
}

/// The call that an item is, if it is one.
pub(super) fn tool_call(item: ResponseItem, raw: &Json) -> Option<ToolCall> {
    let (call_id, name, namespace, kind) = match item {
        ResponseItem::FunctionCall {
            name,
            namespace,
            arguments,
            call_id,
            ..
        } => (call_id, name, namespace, CallKind::Function(arguments)),
        ResponseItem::CustomToolCall {
            call_id,
            name,
            input,
            ..
        } => (call_id, name, None, CallKind::Custom(input)),
        ResponseItem::LocalShellCall {
            call_id: Some(call_id),
            ..
        } => (
            call_id,
            "local_shell".to_owned(),
            None,
            CallKind::LocalShell(raw.clone()),
        ),
        ResponseItem::ToolSearchCall {
            call_id: Some(call_id),
            ..
        } => (
            call_id,
            "tool_search".to_owned(),
            None,
            CallKind::ToolSearch(raw.clone()),
        ),
        _ => return None,
    };
    Some(ToolCall {
        call_id: call_id.into(),
        name,
        namespace,
        kind,
    })
}

/// The text of a message.
pub(super) fn text_of(content: &[quipu_wire::ContentItem]) -> String {
    let texts = content.iter().filter_map(|part| match part {
        quipu_wire::ContentItem::OutputText { text }
        | quipu_wire::ContentItem::InputText { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

fn summary_text(part: quipu_wire::ReasoningItemReasoningSummary) -> Option<String> {
    match part {
        quipu_wire::ReasoningItemReasoningSummary::SummaryText { text } => Some(text),
        quipu_wire::ReasoningItemReasoningSummary::Unrecognized(_) => None,
    }
}

fn reasoning_text(part: quipu_wire::ReasoningItemContent) -> Option<String> {
    match part {
        quipu_wire::ReasoningItemContent::ReasoningText { text }
        | quipu_wire::ReasoningItemContent::Text { text } => Some(text),
        quipu_wire::ReasoningItemContent::Unrecognized(_) => None,
    }
}
