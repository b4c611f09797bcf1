//! MODDOC

use quipu_wire_macros::wire;

use crate::AbsolutePath;

/// DOC
#[wire(root)]
pub struct ClientInfo {
    pub name: String,
    pub title: Option<String>,
    pub version: String,
}

/// DOC
#[wire(root)]
pub struct InitializeCapabilities {
    #[wire(default)]
    pub experimental_api: bool,
    #[wire(optional)]
    pub opt_out_notification_methods: Option<Vec<String>>,
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
    pub user_agent: String,
    pub codex_home: AbsolutePath,
    pub platform_family: String,
    pub platform_os: String,
}
