//! MODDOC

use std::collections::BTreeMap;

use quipu_wire_macros::wire;

use crate::Json;

/// Parameters of `mcpServer/oauth/login`.
#[wire(params, default)]
pub struct McpServerOauthLoginParams {
    pub name: String,
    pub scopes: Option<Vec<String>>,
    #[wire(bigint)]
    pub timeout_secs: Option<i64>,
}

/// Parameters of `mcpServerStatus/list`.
#[wire(params, default)]
pub struct ListMcpServerStatusParams {
    pub cursor: Option<String>,
    pub limit: Option<u32>,
}

/// Result of `mcpServer/oauth/login`.
#[wire]
pub struct McpServerOauthLoginResponse {
    pub authorization_url: String,
}

/// Result of `config/mcpServer/reload`.
#[wire]
pub struct McpServerRefreshResponse {}

/// DOC
#[wire]
pub enum McpAuthStatus {
    Unsupported,
    NotLoggedIn,
    BearerToken,
    #[wire(rename = "oAuth")]
    OAuth,
}

/// DOC
#[wire]
pub struct McpServerStatus {
    pub name: String,
    pub tools: BTreeMap<String, Tool>,
    pub resources: Vec<Resource>,
    pub resource_templates: Vec<ResourceTemplate>,
    pub auth_status: McpAuthStatus,
}

/// DOC
#[wire(root)]
pub struct Resource {
    #[wire(sparse)]
    pub annotations: Option<Json>,
    #[wire(sparse)]
    pub description: Option<String>,
    #[wire(sparse)]
    pub mime_type: Option<String>,
    pub name: String,
    #[wire(sparse)]
    pub size: Option<i64>,
    #[wire(sparse)]
    pub title: Option<String>,
    pub uri: String,
    #[wire(sparse)]
    pub icons: Option<Vec<Json>>,
    #[wire(rename = "_meta", sparse)]
    pub meta: Option<Json>,
}

/// DOC
#[wire(root)]
pub struct ResourceTemplate {
    #[wire(sparse)]
    pub annotations: Option<Json>,
    pub uri_template: String,
    pub name: String,
    #[wire(sparse)]
    pub title: Option<String>,
    #[wire(sparse)]
    pub description: Option<String>,
    #[wire(sparse)]
    pub mime_type: Option<String>,
}

/// DOC
#[wire(root)]
pub struct Tool {
    pub name: String,
    #[wire(sparse)]
    pub title: Option<String>,
    #[wire(sparse)]
    pub description: Option<String>,
    pub input_schema: Json,
    #[wire(sparse)]
    pub output_schema: Option<Json>,
    #[wire(sparse)]
    pub annotations: Option<Json>,
    #[wire(sparse)]
    pub icons: Option<Vec<Json>>,
    #[wire(rename = "_meta", sparse)]
    pub meta: Option<Json>,
}

/// Result of `mcpServerStatus/list`.
#[wire]
pub struct ListMcpServerStatusResponse {
    pub data: Vec<McpServerStatus>,
    pub next_cursor: Option<String>,
}

/// Parameters of the notification `mcpServer/oauthLogin/completed`.
#[wire]
pub struct McpServerOauthLoginCompletedNotification {
    pub name: String,
    pub success: bool,
    #[wire(sparse)]
    pub error: Option<String>,
}

/// DOC
#[wire]
pub enum McpServerStartupState {
    Starting,
    Ready,
    Failed,
    Cancelled,
}

/// Parameters of the notification `mcpServer/startupStatus/updated`.
#[wire]
pub struct McpServerStatusUpdatedNotification {
    pub name: String,
    pub status: McpServerStartupState,
    pub error: Option<String>,
}
