//! MODDOC

use quipu_wire_macros::wire;

use crate::{AgentPath, RequestId, ThreadId, Turn};

/// DOC
#[wire]
pub struct GitInfo {
    pub sha: Option<String>,
    pub branch: Option<String>,
    pub origin_url: Option<String>,
}

/// DOC
#[wire]
pub enum SessionSource {
    Cli,
    Vscode,
    Exec,
    AppServer,
    Custom(String),
    SubAgent(SubAgentSource),
    Unknown,
}

/// DOC
#[wire(root, snake, fields = "snake")]
pub enum SubAgentSource {
    Review,
    Compact,
    ThreadSpawn {
        parent_thread_id: ThreadId,
        depth: i32,
        #[wire(default)]
        agent_path: Option<AgentPath>,
        #[wire(default)]
        agent_nickname: Option<String>,
        #[wire(default)]
        agent_role: Option<String>,
    },
    MemoryConsolidation,
    Other(String),
}

/// DOC
#[wire]
pub struct Thread {
    pub id: String,
    pub preview: String,
    pub ephemeral: bool,
    pub model_provider: String,
    pub created_at: i64,
    pub updated_at: i64,
    pub status: ThreadStatus,
    pub path: Option<String>,
    pub cwd: String,
    pub cli_version: String,
    pub source: SessionSource,
    pub agent_nickname: Option<String>,
    pub agent_role: Option<String>,
    pub git_info: Option<GitInfo>,
    pub name: Option<String>,
    pub turns: Vec<Turn>,
}

/// DOC
#[wire]
pub enum ThreadActiveFlag {
    WaitingOnApproval,
    WaitingOnUserInput,
}

/// DOC
#[wire(tag = "type")]
pub enum ThreadStatus {
    NotLoaded,
    Idle,
    SystemError,
    Active { active_flags: Vec<ThreadActiveFlag> },
}

/// Parameters of the notification `thread/started`.
#[wire]
pub struct ThreadStartedNotification {
    pub thread: Thread,
}

/// Parameters of the notification `thread/status/changed`.
#[wire]
pub struct ThreadStatusChangedNotification {
    pub thread_id: String,
    pub status: ThreadStatus,
}

/// Parameters of the notification `thread/archived`.
#[wire]
pub struct ThreadArchivedNotification {
    pub thread_id: String,
}

/// Parameters of the notification `thread/unarchived`.
#[wire]
pub struct ThreadUnarchivedNotification {
    pub thread_id: String,
}

/// Parameters of the notification `thread/closed`.
#[wire]
pub struct ThreadClosedNotification {
    pub thread_id: String,
}

/// Parameters of the notification `thread/name/updated`.
#[wire]
pub struct ThreadNameUpdatedNotification {
    pub thread_id: String,
    #[wire(sparse)]
    pub thread_name: Option<String>,
}

/// DOC
#[wire]
pub struct ThreadTokenUsage {
    pub total: TokenUsageBreakdown,
    pub last: TokenUsageBreakdown,
    pub model_context_window: Option<i64>,
}

/// DOC
#[wire]
pub struct TokenUsageBreakdown {
    pub total_tokens: i64,
    pub input_tokens: i64,
    pub cached_input_tokens: i64,
    pub output_tokens: i64,
    pub reasoning_output_tokens: i64,
}

/// Parameters of the notification `thread/tokenUsage/updated`.
#[wire]
pub struct ThreadTokenUsageUpdatedNotification {
    pub thread_id: String,
    pub turn_id: String,
    pub token_usage: ThreadTokenUsage,
}

/// Parameters of the notification `serverRequest/resolved`.
#[wire]
pub struct ServerRequestResolvedNotification {
    pub thread_id: String,
    pub request_id: RequestId,
}
