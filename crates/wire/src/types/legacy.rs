//! Requests kept for clients of the first protocol version.

use quipu_wire_macros::wire;

use crate::{AuthMode, GitSha, SubAgentSource, ThreadId};

/// Parameters of `getConversationSummary`.
#[wire(root, untagged, exhaustive)]
pub enum GetConversationSummaryParams {
    /// The summary of a rollout file.
    RolloutPath(ByRolloutPath),
    /// The summary of a thread.
    ConversationId(ByConversationId),
}

/// Names a conversation by its file.
#[wire(no_ts)]
pub struct ByRolloutPath {
    pub rollout_path: String,
}

/// Names a conversation by its id.
#[wire(no_ts)]
pub struct ByConversationId {
    pub conversation_id: ThreadId,
}

/// Result of `getConversationSummary`.
#[wire(root)]
pub struct GetConversationSummaryResponse {
    pub summary: ConversationSummary,
}

/// What a list of conversations shows of one.
#[wire(root)]
pub struct ConversationSummary {
    pub conversation_id: ThreadId,
    pub path: String,
    /// The user's first message.
    pub preview: String,
    /// When it began.
    pub timestamp: Option<String>,
    pub updated_at: Option<String>,
    pub model_provider: String,
    pub cwd: String,
    /// The version of the program that wrote it first.
    pub cli_version: String,
    pub source: LegacySessionSource,
    pub git_info: Option<ConversationGitInfo>,
}

/// The state of the repository a conversation was started in.
#[wire(root, snake)]
pub struct ConversationGitInfo {
    pub sha: Option<String>,
    pub branch: Option<String>,
    pub origin_url: Option<String>,
}

/// Parameters of `gitDiffToRemote`.
#[wire(root, params, default)]
pub struct GitDiffToRemoteParams {
    pub cwd: String,
}

/// Result of `gitDiffToRemote`.
#[wire(root)]
pub struct GitDiffToRemoteResponse {
    /// The commit of the remote that is compared with.
    pub sha: GitSha,
    /// What differs from that commit now.
    pub diff: String,
}

/// Parameters of `getAuthStatus`.
#[wire(root, params, default)]
pub struct GetAuthStatusParams {
    /// Also returns the token.
    #[wire(nullable)]
    pub include_token: Option<bool>,
    /// Refreshes tokens that the server manages before answering.
    #[wire(nullable)]
    pub refresh_token: Option<bool>,
}

/// Result of `getAuthStatus`.
#[wire(root)]
pub struct GetAuthStatusResponse {
    /// Null when nobody is logged in, and when the configured provider needs no login.
    pub auth_method: Option<AuthMode>,
    /// Null unless asked for.
    pub auth_token: Option<String>,
    /// Whether the configured model provider works only with an OpenAI login.
    pub requires_openai_auth: Option<bool>,
}

/// Where a conversation came from, in the words of the first protocol version.
#[wire(root, ts_name = "SessionSource", lower)]
pub enum LegacySessionSource {
    Cli,
    #[wire(rename = "vscode")]
    VsCode,
    Exec,
    /// A server, whose clients speak this protocol or MCP.
    Mcp,
    Custom(String),
    SubAgent(SubAgentSource),
    Unknown,
}
