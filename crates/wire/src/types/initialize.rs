//! The handshake that opens every connection.

use quipu_wire_macros::wire;

use crate::{AbsolutePath, QuipuCapabilities};

/// Who the client is.
#[wire(root)]
pub struct ClientInfo {
    /// Sent to model providers, so it must be valid as the value of an HTTP header.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    pub version: String,
}

/// What a connection wants and does not want.
#[wire(root)]
pub struct InitializeCapabilities {
    /// Allows methods, fields and values that are marked experimental.
    #[wire(default)]
    pub experimental_api: bool,
    /// Notifications not to send, by exact method; unknown ones are ignored.
    #[wire(optional)]
    pub opt_out_notification_methods: Option<Vec<String>>,
    /// What the client wants of Quipu beyond the protocol.
    #[wire(since = "quipu", sparse)]
    pub quipu: Option<QuipuCapabilities>,
}

/// Parameters of `initialize`.
#[wire(root, params)]
pub struct InitializeParams {
    pub client_info: ClientInfo,
    #[wire(nullable)]
    pub capabilities: Option<InitializeCapabilities>,
}

/// Result of `initialize`.
#[wire(root)]
pub struct InitializeResponse {
    /// How the server presents itself to model providers.
    pub user_agent: String,
    /// The directory that holds configuration, accounts and threads.
    pub codex_home: AbsolutePath,
    /// `unix` or `windows`.
    pub platform_family: String,
    /// The system, such as `linux`, `macos` or `windows`.
    pub platform_os: String,
    /// What the client gets of what it wanted beyond the protocol, if it wanted anything.
    #[wire(since = "quipu", sparse)]
    pub quipu: Option<QuipuCapabilities>,
}
