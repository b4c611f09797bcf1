//! The types of the Agent Client Protocol, version 1, as far as this agent uses them. Names and shapes are those of the
//! published JSON Schema; a test checks every message against it. What an editor leaves out or sets to null has its default.

mod asked;
mod content;
mod session;

pub use asked::{
    Elicitation, ElicitationAnswer, PermissionAnswer, PermissionKind, PermissionOption,
    PermissionOutcome, PermissionRequest, TerminalCreated, TerminalExit, TerminalOutput, TextFile,
};
pub use content::{
    ContentBlock, PlanEntry, PlanStatus, SessionUpdate, ToolCall, ToolCallContent,
    ToolCallLocation, ToolCallStatus, ToolKind, Update,
};
pub use session::{
    AuthMethod, AuthenticateRequest, AvailableCommand, AvailableCommandInput, ClientCapabilities,
    ConfigOption, ElicitationCapabilities, InitializeRequest, ListRequest, McpServer, Named,
    OpenRequest, Opened, PromptRequest, PromptResponse, SelectOption, SessionInfo, SessionList,
    SessionMode, SessionModes, SessionRequest, SetModeRequest, SetOptionRequest, StopReason,
};

use serde::{Deserialize, Deserializer};

/// An object without members, which most answers are.
#[derive(Clone, Copy, Debug, Default, Deserialize, serde::Serialize)]
pub struct Empty {}

/// Null counts as absent.
fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}
