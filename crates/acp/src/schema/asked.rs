//! What the agent asks of an editor, and the answers. Requests that are asked in one place are written there.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::content::ToolCall;

/// The params of `session/request_permission`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionRequest<'a> {
    pub session_id: &'a str,
    pub tool_call: ToolCall,
    pub options: Vec<PermissionOption>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionOption {
    pub option_id: String,
    pub name: String,
    pub kind: PermissionKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionKind {
    AllowOnce,
    AllowAlways,
    RejectOnce,
}

#[derive(Debug, Deserialize)]
pub struct PermissionAnswer {
    pub outcome: PermissionOutcome,
}

#[derive(Debug, Deserialize)]
#[serde(
    tag = "outcome",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum PermissionOutcome {
    Cancelled,
    Selected { option_id: String },
}

/// The params of `elicitation/create`.
#[derive(Debug, Serialize)]
#[serde(
    tag = "mode",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum Elicitation<'a> {
    Form {
        session_id: &'a str,
        message: String,
        requested_schema: Value,
    },
    Url {
        session_id: &'a str,
        message: String,
        url: &'a str,
        elicitation_id: &'a str,
    },
}

#[derive(Debug, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum ElicitationAnswer {
    Accept {
        content: Option<BTreeMap<String, Value>>,
    },
    Decline,
    Cancel,
}

/// The answer of `fs/read_text_file`.
#[derive(Debug, Deserialize)]
pub struct TextFile {
    pub content: String,
}

/// The answer of `terminal/create`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TerminalCreated {
    pub terminal_id: String,
}

/// The answer of `terminal/wait_for_exit`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TerminalExit {
    pub exit_code: Option<u32>,
    pub signal: Option<String>,
}

/// The answer of `terminal/output`.
#[derive(Debug, Deserialize)]
pub struct TerminalOutput {
    pub output: String,
}
