//! What an editor asks of the agent, and the answers.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::content::ContentBlock;
use super::or_default;

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InitializeRequest {
    /// The newest version of the protocol that the editor speaks.
    pub protocol_version: u16,
    #[serde(default, deserialize_with = "or_default")]
    pub client_capabilities: ClientCapabilities,
    pub client_info: Option<Implementation>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Implementation {
    pub name: String,
    pub version: String,
}

/// What an editor offers.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ClientCapabilities {
    #[serde(deserialize_with = "or_default")]
    pub fs: FileSystemCapabilities,
    #[serde(deserialize_with = "or_default")]
    pub terminal: bool,
    #[serde(deserialize_with = "or_default")]
    pub auth: AuthCapabilities,
    #[serde(deserialize_with = "or_default")]
    pub elicitation: ElicitationCapabilities,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct FileSystemCapabilities {
    #[serde(deserialize_with = "or_default")]
    pub read_text_file: bool,
    #[serde(deserialize_with = "or_default")]
    pub write_text_file: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct AuthCapabilities {
    #[serde(deserialize_with = "or_default")]
    pub terminal: bool,
}

/// What an editor can ask its user; an object says yes.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct ElicitationCapabilities {
    pub form: Option<super::Empty>,
    pub url: Option<super::Empty>,
}

#[derive(Debug, Serialize)]
pub struct AuthMethod {
    pub id: &'static str,
    pub name: &'static str,
    pub description: String,
    /// `terminal` if the editor runs the program with these arguments; absent if the agent does the rest.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<&'static str>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthenticateRequest {
    pub method_id: String,
}

/// `session/new`, `session/load` and `session/resume`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenRequest {
    /// Not of a new session.
    pub session_id: Option<String>,
    pub cwd: PathBuf,
    #[serde(default, deserialize_with = "or_default")]
    pub mcp_servers: Vec<McpServer>,
    #[serde(default, deserialize_with = "or_default")]
    pub additional_directories: Vec<PathBuf>,
}

/// A program, or with a `type` an address.
#[derive(Debug, Deserialize)]
pub struct McpServer {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: Option<String>,
    pub command: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub args: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub env: Vec<Named>,
    pub url: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub headers: Vec<Named>,
}

#[derive(Debug, Deserialize)]
pub struct Named {
    pub name: String,
    pub value: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Opened {
    /// Only of a new session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    pub modes: SessionModes,
    pub config_options: Vec<ConfigOption>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionModes {
    pub current_mode_id: &'static str,
    pub available_modes: Vec<SessionMode>,
}

#[derive(Debug, Serialize)]
pub struct SessionMode {
    pub id: &'static str,
    pub name: &'static str,
    pub description: &'static str,
}

/// Something that the user can choose.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigOption {
    pub id: &'static str,
    pub name: &'static str,
    /// What it is about, so that editors can place it.
    pub category: &'static str,
    /// `select`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub current_value: String,
    pub options: Vec<SelectOption>,
}

#[derive(Clone, Debug, Serialize)]
pub struct SelectOption {
    pub value: String,
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct AvailableCommand {
    pub name: &'static str,
    pub description: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<AvailableCommandInput>,
}

#[derive(Clone, Debug, Serialize)]
pub struct AvailableCommandInput {
    pub hint: &'static str,
}

#[derive(Debug, Deserialize)]
pub struct ListRequest {
    pub cwd: Option<PathBuf>,
    pub cursor: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionList {
    pub sessions: Vec<SessionInfo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionInfo {
    pub session_id: String,
    pub cwd: String,
    pub title: String,
    pub updated_at: String,
}

/// A request that only names a session.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionRequest {
    pub session_id: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SetModeRequest {
    pub session_id: String,
    pub mode_id: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SetOptionRequest {
    pub session_id: String,
    pub config_id: String,
    pub value: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptRequest {
    pub session_id: String,
    pub prompt: Vec<ContentBlock>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptResponse {
    pub stop_reason: StopReason,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    EndTurn,
    MaxTokens,
    Cancelled,
}

impl From<StopReason> for PromptResponse {
    fn from(stop_reason: StopReason) -> PromptResponse {
        PromptResponse { stop_reason }
    }
}
