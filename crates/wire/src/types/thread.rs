//! MODDOC

use std::collections::BTreeMap;

use quipu_wire_macros::wire;

use crate::{
    AgentPath, ApprovalsReviewer, AskForApproval, DynamicToolSpec, Json, Personality,
    ReasoningEffort, RequestId, ResponseItem, SandboxMode, SandboxPolicy, ServiceTier, ThreadId,
    Turn,
};

/// Parameters of `thread/start`.
#[wire(params, default)]
pub struct ThreadStartParams {
    pub model: Option<String>,
    pub model_provider: Option<String>,
    pub service_tier: Option<Option<ServiceTier>>,
    pub cwd: Option<String>,
    #[wire(nested)]
    pub approval_policy: Option<AskForApproval>,
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    pub sandbox: Option<SandboxMode>,
    pub config: Option<BTreeMap<String, Json>>,
    pub service_name: Option<String>,
    pub base_instructions: Option<String>,
    pub developer_instructions: Option<String>,
    pub personality: Option<Personality>,
    pub ephemeral: Option<bool>,
    #[wire(experimental = "thread/start.dynamicTools")]
    pub dynamic_tools: Option<Vec<DynamicToolSpec>>,
    #[wire(experimental = "thread/start.mockExperimentalField")]
    pub mock_experimental_field: Option<String>,
    #[wire(default, experimental = "thread/start.experimentalRawEvents")]
    pub experimental_raw_events: bool,
    #[wire(default, experimental = "thread/start.persistFullHistory")]
    pub persist_extended_history: bool,
}

/// Parameters of `thread/resume`.
#[wire(params, default)]
pub struct ThreadResumeParams {
    pub thread_id: String,
    #[wire(experimental = "thread/resume.history")]
    pub history: Option<Vec<ResponseItem>>,
    #[wire(experimental = "thread/resume.path")]
    pub path: Option<String>,
    pub model: Option<String>,
    pub model_provider: Option<String>,
    pub service_tier: Option<Option<ServiceTier>>,
    pub cwd: Option<String>,
    #[wire(nested)]
    pub approval_policy: Option<AskForApproval>,
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    pub sandbox: Option<SandboxMode>,
    pub config: Option<BTreeMap<String, Json>>,
    pub base_instructions: Option<String>,
    pub developer_instructions: Option<String>,
    pub personality: Option<Personality>,
    #[wire(default, experimental = "thread/resume.persistFullHistory")]
    pub persist_extended_history: bool,
}

/// Parameters of `thread/fork`.
#[wire(params, default)]
pub struct ThreadForkParams {
    pub thread_id: String,
    #[wire(experimental = "thread/fork.path")]
    pub path: Option<String>,
    pub model: Option<String>,
    pub model_provider: Option<String>,
    pub service_tier: Option<Option<ServiceTier>>,
    pub cwd: Option<String>,
    #[wire(nested)]
    pub approval_policy: Option<AskForApproval>,
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    pub sandbox: Option<SandboxMode>,
    pub config: Option<BTreeMap<String, Json>>,
    pub base_instructions: Option<String>,
    pub developer_instructions: Option<String>,
    #[wire(sparse)]
    pub ephemeral: bool,
    #[wire(default, experimental = "thread/fork.persistFullHistory")]
    pub persist_extended_history: bool,
}

/// Parameters of `thread/archive`.
#[wire(params, default)]
pub struct ThreadArchiveParams {
    pub thread_id: String,
}

/// Parameters of `thread/unsubscribe`.
#[wire(params, default)]
pub struct ThreadUnsubscribeParams {
    pub thread_id: String,
}

/// Parameters of `thread/increment_elicitation`.
#[wire(params, default)]
pub struct ThreadIncrementElicitationParams {
    pub thread_id: String,
}

/// Parameters of `thread/decrement_elicitation`.
#[wire(params, default)]
pub struct ThreadDecrementElicitationParams {
    pub thread_id: String,
}

/// Parameters of `thread/name/set`.
#[wire(params, default)]
pub struct ThreadSetNameParams {
    pub thread_id: String,
    pub name: String,
}

/// DOC
#[wire(params, default)]
pub struct ThreadMetadataGitInfoUpdateParams {
    pub sha: Option<Option<String>>,
    pub branch: Option<Option<String>>,
    pub origin_url: Option<Option<String>>,
}

/// Parameters of `thread/metadata/update`.
#[wire(params, default)]
pub struct ThreadMetadataUpdateParams {
    pub thread_id: String,
    pub git_info: Option<ThreadMetadataGitInfoUpdateParams>,
}

/// Parameters of `thread/unarchive`.
#[wire(params, default)]
pub struct ThreadUnarchiveParams {
    pub thread_id: String,
}

/// Parameters of `thread/compact/start`.
#[wire(params, default)]
pub struct ThreadCompactStartParams {
    pub thread_id: String,
}

/// Parameters of `thread/shellCommand`.
#[wire(params, default)]
pub struct ThreadShellCommandParams {
    pub thread_id: String,
    pub command: String,
}

/// Parameters of `thread/backgroundTerminals/clean`.
#[wire(params, default)]
pub struct ThreadBackgroundTerminalsCleanParams {
    pub thread_id: String,
}

/// Parameters of `thread/rollback`.
#[wire(params, default)]
pub struct ThreadRollbackParams {
    pub thread_id: String,
    pub num_turns: u32,
}

/// DOC
#[wire(snake, exhaustive)]
pub enum ThreadSortKey {
    CreatedAt,
    UpdatedAt,
}

/// DOC
#[wire(exhaustive)]
pub enum ThreadSourceKind {
    Cli,
    Vscode,
    Exec,
    AppServer,
    SubAgent,
    SubAgentReview,
    SubAgentCompact,
    SubAgentThreadSpawn,
    SubAgentOther,
    Unknown,
}

/// Parameters of `thread/list`.
#[wire(params, default)]
pub struct ThreadListParams {
    pub cursor: Option<String>,
    pub limit: Option<u32>,
    pub sort_key: Option<ThreadSortKey>,
    pub model_providers: Option<Vec<String>>,
    pub source_kinds: Option<Vec<ThreadSourceKind>>,
    pub archived: Option<bool>,
    pub cwd: Option<String>,
    pub search_term: Option<String>,
}

/// Parameters of `thread/loaded/list`.
#[wire(params, default)]
pub struct ThreadLoadedListParams {
    pub cursor: Option<String>,
    pub limit: Option<u32>,
}

/// Parameters of `thread/read`.
#[wire(params, default)]
pub struct ThreadReadParams {
    pub thread_id: String,
    #[wire(default)]
    pub include_turns: bool,
}

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

/// Result of `thread/start`.
#[wire]
pub struct ThreadStartResponse {
    pub thread: Thread,
    pub model: String,
    pub model_provider: String,
    pub service_tier: Option<ServiceTier>,
    pub cwd: String,
    pub approval_policy: AskForApproval,
    pub approvals_reviewer: ApprovalsReviewer,
    pub sandbox: SandboxPolicy,
    pub reasoning_effort: Option<ReasoningEffort>,
}

/// Result of `thread/resume`.
#[wire]
pub struct ThreadResumeResponse {
    pub thread: Thread,
    pub model: String,
    pub model_provider: String,
    pub service_tier: Option<ServiceTier>,
    pub cwd: String,
    pub approval_policy: AskForApproval,
    pub approvals_reviewer: ApprovalsReviewer,
    pub sandbox: SandboxPolicy,
    pub reasoning_effort: Option<ReasoningEffort>,
}

/// Result of `thread/fork`.
#[wire]
pub struct ThreadForkResponse {
    pub thread: Thread,
    pub model: String,
    pub model_provider: String,
    pub service_tier: Option<ServiceTier>,
    pub cwd: String,
    pub approval_policy: AskForApproval,
    pub approvals_reviewer: ApprovalsReviewer,
    pub sandbox: SandboxPolicy,
    pub reasoning_effort: Option<ReasoningEffort>,
}

/// Result of `thread/archive`.
#[wire]
pub struct ThreadArchiveResponse {}

/// DOC
#[wire]
pub enum ThreadUnsubscribeStatus {
    NotLoaded,
    NotSubscribed,
    Unsubscribed,
}

/// Result of `thread/unsubscribe`.
#[wire]
pub struct ThreadUnsubscribeResponse {
    pub status: ThreadUnsubscribeStatus,
}

/// Result of `thread/increment_elicitation`.
#[wire]
pub struct ThreadIncrementElicitationResponse {
    #[wire(bigint)]
    pub count: u64,
    pub paused: bool,
}

/// Result of `thread/decrement_elicitation`.
#[wire]
pub struct ThreadDecrementElicitationResponse {
    #[wire(bigint)]
    pub count: u64,
    pub paused: bool,
}

/// Result of `thread/name/set`.
#[wire]
pub struct ThreadSetNameResponse {}

/// Result of `thread/metadata/update`.
#[wire]
pub struct ThreadMetadataUpdateResponse {
    pub thread: Thread,
}

/// Result of `thread/unarchive`.
#[wire]
pub struct ThreadUnarchiveResponse {
    pub thread: Thread,
}

/// Result of `thread/compact/start`.
#[wire]
pub struct ThreadCompactStartResponse {}

/// Result of `thread/shellCommand`.
#[wire]
pub struct ThreadShellCommandResponse {}

/// Result of `thread/backgroundTerminals/clean`.
#[wire]
pub struct ThreadBackgroundTerminalsCleanResponse {}

/// Result of `thread/rollback`.
#[wire]
pub struct ThreadRollbackResponse {
    pub thread: Thread,
}

/// Result of `thread/list`.
#[wire]
pub struct ThreadListResponse {
    pub data: Vec<Thread>,
    pub next_cursor: Option<String>,
}

/// Result of `thread/loaded/list`.
#[wire]
pub struct ThreadLoadedListResponse {
    pub data: Vec<String>,
    pub next_cursor: Option<String>,
}

/// Result of `thread/read`.
#[wire]
pub struct ThreadReadResponse {
    pub thread: Thread,
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
