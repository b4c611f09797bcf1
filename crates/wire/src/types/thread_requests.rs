//! MODDOC

use quipu_wire_macros::wire;

use crate::Thread;

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
