//! The items of a conversation, typed: what a model may send and what is stored. Reading is
//! tolerant; writing gives the one form that histories and rollout files have, without ids.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// What sort of item a piece of history is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ItemKind {
    /// A message of any role.
    Message,
    /// Reasoning, readable or encrypted.
    Reasoning,
    /// A call of a JSON function.
    FunctionCall,
    /// What that call returned.
    FunctionCallOutput,
    /// A call of a free-form tool.
    CustomToolCall,
    /// What that call returned.
    CustomToolCallOutput,
    /// A call of the provider's shell tool.
    LocalShellCall,
    /// A search for deferred tools.
    ToolSearchCall,
    /// The tools found.
    ToolSearchOutput,
    /// A web search that the provider ran.
    WebSearchCall,
    /// An image that the provider made.
    ImageGenerationCall,
    /// A history that the provider compacted.
    Compaction,
    /// A local undo point; never sent.
    GhostSnapshot,
    /// Something this version does not know.
    Other,
}

impl ItemKind {
    pub(crate) fn from_type(name: &str) -> Self {
        match name {
            "message" => Self::Message,
            "reasoning" => Self::Reasoning,
            "function_call" => Self::FunctionCall,
            "function_call_output" => Self::FunctionCallOutput,
            "custom_tool_call" => Self::CustomToolCall,
            "custom_tool_call_output" => Self::CustomToolCallOutput,
            "local_shell_call" => Self::LocalShellCall,
            "tool_search_call" => Self::ToolSearchCall,
            "tool_search_output" => Self::ToolSearchOutput,
            "web_search_call" => Self::WebSearchCall,
            "image_generation_call" => Self::ImageGenerationCall,
            "compaction" | "compaction_summary" => Self::Compaction,
            "ghost_snapshot" => Self::GhostSnapshot,
            _ => Self::Other,
        }
    }

    /// Whether the item asks for a tool to run.
    pub fn is_call(self) -> bool {
        matches!(
            self,
            Self::FunctionCall | Self::CustomToolCall | Self::LocalShellCall | Self::ToolSearchCall
        )
    }

    /// Whether the item answers such a call.
    pub fn is_call_output(self) -> bool {
        matches!(
            self,
            Self::FunctionCallOutput | Self::CustomToolCallOutput | Self::ToolSearchOutput
        )
    }
}

/// An item, typed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Item {
    Message {
        #[serde(default, skip_serializing)]
        id: Option<String>,
        role: String,
        #[serde(default, deserialize_with = "content::deserialize")]
        content: Vec<ContentPart>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        end_turn: Option<bool>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        phase: Option<String>,
    },
    Reasoning {
        #[serde(default, skip_serializing)]
        id: Option<String>,
        #[serde(default)]
        summary: Vec<SummaryPart>,
        #[serde(default, skip_serializing_if = "holds_no_reasoning_text")]
        content: Option<Vec<ReasoningPart>>,
        #[serde(default)]
        encrypted_content: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        maker: Option<String>,
    },
    FunctionCall {
        #[serde(default, skip_serializing)]
        id: Option<String>,
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        namespace: Option<String>,
        arguments: String,
        call_id: String,
    },
    FunctionCallOutput {
        call_id: String,
        output: Output,
    },
    CustomToolCall {
        #[serde(default, skip_serializing)]
        id: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<String>,
        call_id: String,
        name: String,
        input: String,
    },
    CustomToolCallOutput {
        call_id: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        output: Output,
    },
    LocalShellCall {
        #[serde(default, skip_serializing)]
        id: Option<String>,
        #[serde(default)]
        call_id: Option<String>,
        status: String,
        action: ShellAction,
    },
    ToolSearchCall {
        #[serde(default, skip_serializing)]
        id: Option<String>,
        #[serde(default)]
        call_id: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<String>,
        execution: String,
        arguments: serde_json::Value,
    },
    ToolSearchOutput {
        #[serde(default)]
        call_id: Option<String>,
        status: String,
        execution: String,
        tools: Vec<serde_json::Value>,
    },
    WebSearchCall {
        #[serde(default, skip_serializing)]
        id: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        action: Option<SearchAction>,
    },
    ImageGenerationCall {
        id: String,
        status: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        revised_prompt: Option<String>,
        result: String,
    },
    #[serde(alias = "compaction_summary")]
    Compaction {
        encrypted_content: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        maker: Option<String>,
    },
    #[serde(other)]
    Other,
}

impl Item {
    /// The provider's own id of the item.
    pub(crate) fn id(&self) -> Option<&str> {
        match self {
            Self::Message { id, .. }
            | Self::Reasoning { id, .. }
            | Self::FunctionCall { id, .. }
            | Self::CustomToolCall { id, .. }
            | Self::LocalShellCall { id, .. }
            | Self::ToolSearchCall { id, .. }
            | Self::WebSearchCall { id, .. } => id.as_deref(),
            Self::ImageGenerationCall { id, .. } => Some(id),
            _ => None,
        }
    }

    pub(crate) fn kind(&self) -> ItemKind {
        match self {
            Self::Message { .. } => ItemKind::Message,
            Self::Reasoning { .. } => ItemKind::Reasoning,
            Self::FunctionCall { .. } => ItemKind::FunctionCall,
            Self::FunctionCallOutput { .. } => ItemKind::FunctionCallOutput,
            Self::CustomToolCall { .. } => ItemKind::CustomToolCall,
            Self::CustomToolCallOutput { .. } => ItemKind::CustomToolCallOutput,
            Self::LocalShellCall { .. } => ItemKind::LocalShellCall,
            Self::ToolSearchCall { .. } => ItemKind::ToolSearchCall,
            Self::ToolSearchOutput { .. } => ItemKind::ToolSearchOutput,
            Self::WebSearchCall { .. } => ItemKind::WebSearchCall,
            Self::ImageGenerationCall { .. } => ItemKind::ImageGenerationCall,
            Self::Compaction { .. } => ItemKind::Compaction,
            Self::Other => ItemKind::Other,
        }
    }

    /// Marks an item that only its maker can read.
    pub(crate) fn mark_maker(&mut self, provider: &str) {
        match self {
            Self::Reasoning {
                encrypted_content: Some(_),
                maker,
                ..
            }
            | Self::Compaction { maker, .. } => *maker = Some(provider.to_owned()),
            _ => {}
        }
    }

    /// An assistant's message that has just begun.
    pub(crate) fn empty_message(id: Option<String>) -> Self {
        Self::Message {
            id,
            role: "assistant".into(),
            content: Vec::new(),
            end_turn: None,
            phase: None,
        }
    }

    /// An assistant's message of one text.
    pub(crate) fn assistant(text: String) -> Self {
        Self::Message {
            id: None,
            role: "assistant".into(),
            content: vec![ContentPart::OutputText { text }],
            end_turn: None,
            phase: None,
        }
    }

    /// The form that histories and rollout files have.
    pub(crate) fn to_raw(&self) -> Box<RawValue> {
        // Strings, numbers and JSON values always print.
        serde_json::value::to_raw_value(self).unwrap_or_else(|error| {
            tracing::error!(%error, "an item could not be printed");
            RawValue::NULL.to_owned()
        })
    }
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum ContentPart {
    InputText { text: String },
    InputImage { image_url: String },
    OutputText { text: String },
}

/// A part of a reasoning summary.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum SummaryPart {
    SummaryText { text: String },
}

/// A part of raw reasoning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum ReasoningPart {
    ReasoningText { text: String },
    Text { text: String },
}

/// What a tool returned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Output {
    Text(String),
    Parts(Vec<OutputPart>),
}

/// A part of what a tool returned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum OutputPart {
    InputText {
        text: String,
    },
    InputImage {
        image_url: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
    },
}

/// What the provider's shell tool is asked to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum ShellAction {
    Exec {
        command: Vec<String>,
        #[serde(default)]
        timeout_ms: Option<u64>,
        #[serde(default)]
        working_directory: Option<String>,
        #[serde(default)]
        env: Option<std::collections::BTreeMap<String, String>>,
        #[serde(default)]
        user: Option<String>,
    },
}

/// What a web search did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum SearchAction {
    Search {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        query: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queries: Option<Vec<String>>,
    },
    OpenPage {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<String>,
    },
    FindInPage {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pattern: Option<String>,
    },
    #[serde(other)]
    Other,
}

/// Content of only plain `text` parts is left out when written; no content at all is `null`.
fn holds_no_reasoning_text(content: &Option<Vec<ReasoningPart>>) -> bool {
    content.as_ref().is_some_and(|parts| {
        !parts
            .iter()
            .any(|part| matches!(part, ReasoningPart::ReasoningText { .. }))
    })
}

/// Message content: a bare string counts as one text, a refusal as what the model said, and parts
/// of unknown types are dropped.
mod content {
    use serde::{Deserialize, Deserializer};

    use super::ContentPart;

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Content {
        Text(String),
        Parts(Vec<Part>),
    }

    #[derive(Deserialize)]
    #[serde(tag = "type", rename_all = "snake_case")]
    enum Part {
        #[serde(alias = "text")]
        InputText {
            text: String,
        },
        InputImage {
            image_url: String,
        },
        OutputText {
            text: String,
        },
        Refusal {
            refusal: String,
        },
        #[serde(other)]
        Unknown,
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<ContentPart>, D::Error> {
        Ok(match Content::deserialize(deserializer)? {
            Content::Text(text) => vec![ContentPart::InputText { text }],
            Content::Parts(parts) => parts.into_iter().filter_map(known).collect(),
        })
    }

    fn known(part: Part) -> Option<ContentPart> {
        Some(match part {
            Part::InputText { text } => ContentPart::InputText { text },
            Part::InputImage { image_url } => ContentPart::InputImage { image_url },
            Part::OutputText { text } | Part::Refusal { refusal: text } => {
                ContentPart::OutputText { text }
            }
            Part::Unknown => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(json: &str) -> String {
        serde_json::from_str::<Item>(json)
            .unwrap()
            .to_raw()
            .get()
            .to_owned()
    }

    #[test]
    fn items_are_written_in_the_stored_form() {
        let cases = [
            (
                r#"{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"text":"Hi"},{"type":"new_thing"}]}"#,
                r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi"}]}"#,
            ),
            (
                r#"{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"s"}],"encrypted_content":"e"}"#,
                r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"s"}],"content":null,"encrypted_content":"e"}"#,
            ),
            (
                r#"{"type":"reasoning","summary":[],"content":[{"type":"text","text":"t"}]}"#,
                r#"{"type":"reasoning","summary":[],"encrypted_content":null}"#,
            ),
            (
                r#"{"type":"function_call","id":"fc","name":"f","arguments":"{}","call_id":"c","status":"completed"}"#,
                r#"{"type":"function_call","name":"f","arguments":"{}","call_id":"c"}"#,
            ),
            (
                r#"{"type":"web_search_call","id":"ws","status":"completed","action":{"type":"search","query":"q"}}"#,
                r#"{"type":"web_search_call","status":"completed","action":{"type":"search","query":"q"}}"#,
            ),
            (
                r#"{"type":"compaction_summary","encrypted_content":"x"}"#,
                r#"{"type":"compaction","encrypted_content":"x"}"#,
            ),
        ];
        for (given, stored) in cases {
            assert_eq!(rewritten(given), stored);
        }
        assert_eq!(
            serde_json::from_str::<Item>(r#"{"type":"later"}"#).unwrap(),
            Item::Other
        );
    }
}
