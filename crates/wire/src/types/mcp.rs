//! MCP servers: logging in to them, what they offer, and how they start.

use std::collections::BTreeMap;

use quipu_wire_macros::wire;

use crate::Json;

/// Parameters of `mcpServer/oauth/login`.
#[wire(params, default)]
pub struct McpServerOauthLoginParams {
    /// The name of the server in the configuration.
    pub name: String,
    /// If absent, the configured ones, else those that the server offers.
    pub scopes: Option<Vec<String>>,
    /// Seconds to wait for the browser; 300 if absent.
    #[wire(bigint)]
    pub timeout_secs: Option<i64>,
}

/// Parameters of `mcpServerStatus/list`.
#[wire(params, default)]
pub struct ListMcpServerStatusParams {
    /// The `nextCursor` of the page before; absent for the first.
    pub cursor: Option<String>,
    /// Servers per page; all if absent.
    pub limit: Option<u32>,
}

/// Result of `mcpServer/oauth/login`.
#[wire]
pub struct McpServerOauthLoginResponse {
    /// The page to open in the user's browser.
    pub authorization_url: String,
}

/// Result of `config/mcpServer/reload`.
#[wire]
pub struct McpServerRefreshResponse {}

/// How requests to an MCP server are authenticated.
#[wire]
pub enum McpAuthStatus {
    /// They are not: it is a local process, or offers no login that is known.
    Unsupported,
    /// They are not yet: `mcpServer/oauth/login` is possible.
    NotLoggedIn,
    /// With a token from the configuration.
    BearerToken,
    /// With the tokens of a login.
    #[wire(rename = "oAuth")]
    OAuth,
}

/// A configured MCP server and what it offers; nothing if it does not start.
#[wire]
pub struct McpServerStatus {
    pub name: String,
    /// By name, in which all but letters, digits and `_` is replaced by `_`.
    pub tools: BTreeMap<String, Tool>,
    pub resources: Vec<Resource>,
    pub resource_templates: Vec<ResourceTemplate>,
    pub auth_status: McpAuthStatus,
}

/// Something that an MCP server lets others read.
#[wire(root)]
pub struct Resource {
    /// Hints of MCP, as received.
    #[wire(sparse)]
    pub annotations: Option<Json>,
    #[wire(sparse)]
    pub description: Option<String>,
    #[wire(sparse)]
    pub mime_type: Option<String>,
    pub name: String,
    /// In bytes.
    #[wire(sparse)]
    pub size: Option<i64>,
    #[wire(sparse)]
    pub title: Option<String>,
    pub uri: String,
    /// As received.
    #[wire(sparse)]
    pub icons: Option<Vec<Json>>,
    /// As received.
    #[wire(rename = "_meta", sparse)]
    pub meta: Option<Json>,
}

/// A family of resources, with an address that has gaps to fill in.
#[wire(root)]
pub struct ResourceTemplate {
    /// Hints of MCP, as received.
    #[wire(sparse)]
    pub annotations: Option<Json>,
    /// A URI template of RFC 6570.
    pub uri_template: String,
    pub name: String,
    #[wire(sparse)]
    pub title: Option<String>,
    #[wire(sparse)]
    pub description: Option<String>,
    #[wire(sparse)]
    pub mime_type: Option<String>,
}

/// A tool of an MCP server.
#[wire(root)]
pub struct Tool {
    /// The name that the MCP server gave it.
    pub name: String,
    #[wire(sparse)]
    pub title: Option<String>,
    #[wire(sparse)]
    pub description: Option<String>,
    /// A JSON Schema of its arguments.
    pub input_schema: Json,
    /// A JSON Schema of its structured result.
    #[wire(sparse)]
    pub output_schema: Option<Json>,
    /// Hints of MCP, as received; they decide whether a call needs approval.
    #[wire(sparse)]
    pub annotations: Option<Json>,
    /// As received.
    #[wire(sparse)]
    pub icons: Option<Vec<Json>>,
    /// As received.
    #[wire(rename = "_meta", sparse)]
    pub meta: Option<Json>,
}

/// Result of `mcpServerStatus/list`.
#[wire]
pub struct ListMcpServerStatusResponse {
    /// Sorted by name.
    pub data: Vec<McpServerStatus>,
    /// Null on the last page.
    pub next_cursor: Option<String>,
}

/// Parameters of the notification `mcpServer/oauthLogin/completed`.
#[wire]
pub struct McpServerOauthLoginCompletedNotification {
    pub name: String,
    pub success: bool,
    /// Why it failed; absent on success.
    #[wire(sparse)]
    pub error: Option<String>,
}

/// How far an MCP server has come for a thread.
#[wire]
pub enum McpServerStartupState {
    Starting,
    /// Its tools can be called.
    Ready,
    /// Its tools are missing; the thread does without them.
    Failed,
    /// Its start was given up.
    Cancelled,
}

/// Parameters of the notification `mcpServer/startupStatus/updated`, sent to the subscribers of the
/// thread that starts the MCP server.
#[wire]
pub struct McpServerStatusUpdatedNotification {
    pub name: String,
    pub status: McpServerStartupState,
    /// Set with `failed`.
    pub error: Option<String>,
}

/// Parameters of `mcpServer/tool/call`.
#[wire(params, default)]
pub struct McpServerToolCallParams {
    /// A loaded thread, whose servers are meant.
    pub thread_id: String,
    pub server: String,
    /// The tool's own name.
    pub tool: String,
    /// An object.
    pub arguments: Option<Json>,
}

/// Result of `mcpServer/tool/call`.
#[wire]
pub struct McpServerToolCallResponse {
    /// What the server sent, part by part.
    pub content: Vec<Json>,
    #[wire(sparse)]
    pub structured_content: Option<Json>,
    /// Whether the tool says that it failed.
    #[wire(sparse)]
    pub is_error: Option<bool>,
}

/// Parameters of `mcpServer/resource/read`.
#[wire(params, default)]
pub struct McpResourceReadParams {
    /// A loaded thread, whose servers are meant; required.
    pub thread_id: Option<String>,
    /// Given back in the result.
    pub origin_call_id: Option<String>,
    pub server: String,
    pub uri: String,
}

/// Result of `mcpServer/resource/read`.
#[wire]
pub struct McpResourceReadResponse {
    /// What the server sent, part by part.
    pub contents: Vec<Json>,
    pub origin_call_id: Option<String>,
}
