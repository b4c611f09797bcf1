//! Threads: what they are, what state they are in, and what clients hear about them.

use quipu_wire_macros::wire;

use crate::{AgentPath, RequestId, ThreadId, ThreadSection, Turn};

/// The state of the Git repository when the thread was stored first.
#[wire]
pub struct GitInfo {
    /// The commit.
    pub sha: Option<String>,
    pub branch: Option<String>,
    pub origin_url: Option<String>,
}

/// What started a thread.
#[wire]
pub enum SessionSource {
    /// The terminal program.
    Cli,
    /// An editor; the default for threads of a server.
    Vscode,
    /// A run without a user.
    Exec,
    /// A server whose clients speak MCP.
    AppServer,
    /// A program with this name.
    Custom(String),
    /// Another thread.
    SubAgent(SubAgentSource),
    Unknown,
}

/// What a thread was started for by another thread or by the server.
#[wire(root, snake, fields = "snake")]
pub enum SubAgentSource {
    /// A review.
    Review,
    /// A compaction.
    Compact,
    /// A task that the model gave away.
    ThreadSpawn {
        parent_thread_id: ThreadId,
        /// How many agents are above it; at least 1.
        depth: i32,
        #[wire(default)]
        agent_path: Option<AgentPath>,
        #[wire(default)]
        agent_nickname: Option<String>,
        /// The kind of agent, which decides its settings.
        #[wire(default)]
        agent_role: Option<String>,
    },
    /// Tidying up notes on earlier threads.
    MemoryConsolidation,
    /// A task of the server with this name.
    Other(String),
}

/// A conversation with the agent.
#[wire]
pub struct Thread {
    pub id: String,
    /// The tree of threads that it belongs to; its own `id`.
    #[wire(since = "0.166", hidden_default)]
    pub session_id: String,
    /// The user's first message; empty before there is one.
    pub preview: String,
    /// Whether it lives in memory only.
    pub ephemeral: bool,
    /// The section that it is in; absent if it is in none. Shown by `thread/list` and `thread/read`.
    #[wire(since = "0.166", sparse)]
    pub section: Option<ThreadSection>,
    /// When it came into the section, in Unix seconds.
    #[wire(since = "0.166", sparse)]
    pub section_entered_at: Option<i64>,
    /// Always null: there are no projects.
    #[wire(since = "0.166")]
    pub project_id: Option<String>,
    pub model_provider: String,
    /// When it was started, in Unix seconds.
    pub created_at: i64,
    /// When it last changed, in Unix seconds.
    pub updated_at: i64,
    pub status: ThreadStatus,
    /// The rollout file, which the first message creates; null if `ephemeral`. Unstable.
    pub path: Option<String>,
    pub cwd: String,
    /// The version of the program that started it.
    pub cli_version: String,
    pub source: SessionSource,
    /// Set on threads that another agent spawned.
    pub agent_nickname: Option<String>,
    /// Set on threads that another agent spawned.
    pub agent_role: Option<String>,
    /// Null if it was not started in a Git repository, or is not stored yet.
    pub git_info: Option<GitInfo>,
    /// What `thread/name/set` last set; a fork starts without one.
    pub name: Option<String>,
    /// Filled by `thread/resume`, `thread/fork`, `thread/rollback` and `thread/read` with
    /// `includeTurns`; else empty.
    pub turns: Vec<Turn>,
}

/// What a running thread waits for.
#[wire]
pub enum ThreadActiveFlag {
    /// An approval, or an answer to an MCP server.
    WaitingOnApproval,
    /// The answer to a question of the model.
    WaitingOnUserInput,
}

/// What a thread is doing.
#[wire(tag = "type")]
pub enum ThreadStatus {
    /// Nothing; `thread/resume` loads it.
    NotLoaded,
    /// Waiting for a turn.
    Idle,
    /// Waiting for a turn, after one that failed.
    SystemError,
    /// Running a turn.
    Active {
        /// Empty if it waits for nobody.
        active_flags: Vec<ThreadActiveFlag>,
    },
}

/// Parameters of the notification `thread/started`.
#[wire]
pub struct ThreadStartedNotification {
    /// With turns after a fork only.
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

/// Parameters of the notification `thread/deleted`.
#[wire]
pub struct ThreadDeletedNotification {
    pub thread_id: String,
}

/// Parameters of the notification `thread/unarchived`.
#[wire]
pub struct ThreadUnarchivedNotification {
    pub thread_id: String,
}

/// Parameters of the notification `thread/closed`: the thread is no longer loaded.
#[wire]
pub struct ThreadClosedNotification {
    pub thread_id: String,
}

/// Parameters of the notification `thread/name/updated`.
#[wire]
pub struct ThreadNameUpdatedNotification {
    pub thread_id: String,
    /// Absent if the thread has no name any more.
    #[wire(sparse)]
    pub thread_name: Option<String>,
}

/// How many tokens a thread has used.
#[wire]
pub struct ThreadTokenUsage {
    /// By all model requests of the thread, also before a resume.
    pub total: TokenUsageBreakdown,
    /// By the last one. After a compaction or rollback: an estimate, in `totalTokens` only.
    pub last: TokenUsageBreakdown,
    /// The tokens that the model can work with, a little below its full window; null if unknown.
    pub model_context_window: Option<i64>,
    /// What the answers of models cost, once one had a known price.
    #[wire(since = "quipu", sparse)]
    pub cost: Option<TokenCost>,
}

/// US dollars, of answers whose price is known.
#[wire]
pub struct TokenCost {
    /// Of the last answer; null if its price is not known.
    pub last: Option<f64>,
    /// Of the running turn, or the last one.
    pub turn: f64,
    /// Of the whole thread, also before a resume.
    pub thread: f64,
}

/// Numbers of tokens.
#[wire]
pub struct TokenUsageBreakdown {
    pub total_tokens: i64,
    /// What the model read, cached tokens included.
    pub input_tokens: i64,
    /// The part of the input that the provider had cached.
    pub cached_input_tokens: i64,
    /// What the model wrote, its thoughts included.
    pub output_tokens: i64,
    /// The part of the output that was thoughts.
    pub reasoning_output_tokens: i64,
}

/// Parameters of the notification `thread/tokenUsage/updated`.
#[wire]
pub struct ThreadTokenUsageUpdatedNotification {
    pub thread_id: String,
    /// The turn in which the request was made.
    pub turn_id: String,
    pub token_usage: ThreadTokenUsage,
}

/// Parameters of the notification `serverRequest/resolved`: a request to clients needs no answer
/// any more.
#[wire]
pub struct ServerRequestResolvedNotification {
    pub thread_id: String,
    /// The `id` of that request.
    pub request_id: RequestId,
}
