//! What is shown: content, tool calls, and the updates that carry them.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::session::{AvailableCommand, ConfigOption};

/// A piece of a message, in either direction. The same shapes as in MCP.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum ContentBlock {
    Text { text: String },
    Image { data: String, mime_type: String },
    Audio { data: String, mime_type: String },
    ResourceLink { name: String, uri: String },
    Resource { resource: Resource },
}

impl From<&str> for ContentBlock {
    fn from(text: &str) -> ContentBlock {
        ContentBlock::Text {
            text: text.to_owned(),
        }
    }
}

/// The content of a file: text, or else bytes in Base64.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    pub uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
}

/// A tool call, or what changed of it: absent members stay as they are.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    pub tool_call_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<ToolKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<ToolCallStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Vec<ToolCallContent>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locations: Option<Vec<ToolCallLocation>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_input: Option<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    Read,
    Edit,
    Search,
    Execute,
    Think,
    Fetch,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolCallStatus {
    Pending,
    InProgress,
    Completed,
    Failed,
}

#[derive(Clone, Debug, Serialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum ToolCallContent {
    Content {
        content: ContentBlock,
    },
    Diff {
        path: String,
        /// Null for a new file.
        old_text: Option<String>,
        new_text: String,
    },
    /// A terminal of the editor.
    Terminal {
        terminal_id: String,
    },
}

impl From<&str> for ToolCallContent {
    fn from(text: &str) -> ToolCallContent {
        ToolCallContent::Content {
            content: text.into(),
        }
    }
}

/// A file that a tool call is about.
#[derive(Clone, Debug, Serialize)]
pub struct ToolCallLocation {
    pub path: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

#[derive(Clone, Debug, Serialize)]
pub struct PlanEntry {
    pub content: String,
    pub priority: &'static str,
    pub status: PlanStatus,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanStatus {
    Pending,
    InProgress,
    Completed,
}

/// The params of `session/update`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionUpdate<'a> {
    pub session_id: &'a str,
    pub update: Update,
}

/// One thing that happened in a session.
#[derive(Clone, Debug, Serialize)]
#[serde(
    tag = "sessionUpdate",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
#[expect(clippy::enum_variant_names, reason = "the names of the protocol")]
pub enum Update {
    UserMessageChunk {
        content: ContentBlock,
    },
    AgentMessageChunk {
        content: ContentBlock,
    },
    AgentThoughtChunk {
        content: ContentBlock,
    },
    ToolCall(ToolCall),
    ToolCallUpdate(ToolCall),
    Plan {
        entries: Vec<PlanEntry>,
    },
    AvailableCommandsUpdate {
        available_commands: Vec<AvailableCommand>,
    },
    CurrentModeUpdate {
        current_mode_id: &'static str,
    },
    ConfigOptionUpdate {
        config_options: Vec<ConfigOption>,
    },
    SessionInfoUpdate {
        title: Option<String>,
    },
    UsageUpdate {
        used: u64,
        size: u64,
    },
}
