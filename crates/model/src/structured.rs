//! Output of a given shape, for providers that have no field for it: a tool whose arguments are the
//! answer, or words in the instructions. Either way the final message is checked against the schema.

use serde_json::value::RawValue;

use crate::event::{OutputError, OutputItem};
use crate::item::{ContentPart, Item, ItemKind};
use crate::provider::StructuredOutput;
use crate::request::Request;
use crate::schema;

/// The tool whose arguments are the final answer.
pub(crate) const OUTPUT_TOOL: &str = "final_answer";
pub(crate) const OUTPUT_TOOL_DESCRIPTION: &str =
    "Give your final answer. Call this once, at the end, instead of writing a final message.";

/// The schema to send as a tool, if that is the way.
pub(crate) fn as_tool(request: &Request, style: StructuredOutput) -> Option<&RawValue> {
    request
        .output_schema
        .as_deref()
        .filter(|_| style == StructuredOutput::Tool)
}

/// The schema to send in the provider's own field, if that is the way.
pub(crate) fn as_field(request: &Request, style: StructuredOutput) -> Option<&RawValue> {
    request
        .output_schema
        .as_deref()
        .filter(|_| style == StructuredOutput::Native)
}

/// The words to add to the instructions, if that is the way.
pub(crate) fn as_words(request: &Request, style: StructuredOutput) -> Option<String> {
    let schema = request.output_schema.as_deref()?;
    (style == StructuredOutput::Instruction).then(|| {
        format!(
            "Your final message must be one JSON value that matches the JSON Schema below: no code fence and no words around it.\n\n{}",
            schema.get()
        )
    })
}

/// A list of tools with one more at its end.
pub(crate) fn with_tool(tools: &RawValue, extra: Option<String>) -> Box<RawValue> {
    let Some((extra, rest)) = extra.zip(tools.get().strip_suffix(']')) else {
        return tools.to_owned();
    };
    let comma = if rest == "[" { "" } else { "," };
    RawValue::from_string(format!("{rest}{comma}{extra}]")).unwrap_or_else(|_| tools.to_owned())
}

/// The JSON inside a code fence, for models that cannot leave it out.
pub(crate) fn without_fence(text: String) -> String {
    let inner = text
        .trim()
        .strip_prefix("```")
        .and_then(|rest| rest.strip_suffix("```"));
    let Some(inner) = inner else { return text };
    let json = inner.strip_prefix("json").unwrap_or(inner).trim();
    if serde_json::from_str::<serde::de::IgnoredAny>(json).is_ok() {
        json.to_owned()
    } else {
        text
    }
}

/// Watches the items of an answer and judges its final message.
#[derive(Debug, Default)]
pub(crate) struct Judge {
    last_text: Option<String>,
    called: bool,
}

impl Judge {
    pub(crate) fn item(&mut self, item: &OutputItem) {
        if item.kind.is_call() {
            self.called = true;
        }
        if item.kind == ItemKind::Message
            && let Ok(Item::Message { content, .. }) = serde_json::from_str(item.raw.get())
        {
            let texts = content.into_iter().filter_map(|part| match part {
                ContentPart::OutputText { text } | ContentPart::InputText { text } => Some(text),
                ContentPart::InputImage { .. } => None,
            });
            self.last_text = Some(texts.collect());
        }
    }

    /// What is wrong with the final message, if anything. An answer that calls a tool has none yet. The check can
    /// take a while, so it waits for its end elsewhere.
    pub(crate) async fn verdict(&mut self, schema: &RawValue) -> Option<OutputError> {
        if self.called {
            return None;
        }
        let Some(text) = self.last_text.take() else {
            let reason = "the answer holds no message".into();
            return Some(OutputError {
                reason,
                is_json: false,
            });
        };
        let schema = schema.to_owned();
        let checked = tokio::task::spawn_blocking(move || check(&schema, &text));
        let failed = |error| {
            let reason = format!("it could not be checked: {error}");
            Some(OutputError {
                reason,
                is_json: false,
            })
        };
        checked.await.unwrap_or_else(failed)
    }
}

fn check(schema: &RawValue, text: &str) -> Option<OutputError> {
    let reason = schema::check(schema, text).err()?;
    let is_json = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    Some(OutputError { reason, is_json })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_around_json_are_removed() {
        assert_eq!(without_fence("```json\n{\"a\":1}\n```".into()), "{\"a\":1}");
        assert_eq!(without_fence(" ```\n[1]``` ".into()), "[1]");
        for kept in ["```rust\nfn x(){}\n```", "{\"a\":1}", "``````", "```"] {
            assert_eq!(without_fence(kept.into()), kept);
        }
    }

    #[test]
    fn a_tool_is_appended_to_any_list() {
        let list = |json: &str| RawValue::from_string(json.into()).unwrap();
        assert_eq!(with_tool(&list("[]"), Some("{}".into())).get(), "[{}]");
        assert_eq!(with_tool(&list("[1]"), Some("2".into())).get(), "[1,2]");
        assert_eq!(with_tool(&list("[1]"), None).get(), "[1]");
    }
}
