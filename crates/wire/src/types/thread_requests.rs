//! What clients can ask of threads besides bringing them to life.

use std::collections::BTreeMap;

use quipu_wire_macros::wire;

use crate::{SortDirection, Thread, ThreadReadState};

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

/// Parameters of `thread/increment_elicitation`: the client begins to ask the user something.
#[wire(params, default)]
pub struct ThreadIncrementElicitationParams {
    pub thread_id: String,
}

/// Parameters of `thread/decrement_elicitation`: the client is done asking the user something.
#[wire(params, default)]
pub struct ThreadDecrementElicitationParams {
    pub thread_id: String,
}

/// Parameters of `thread/name/set`.
#[wire(params, default)]
pub struct ThreadSetNameParams {
    pub thread_id: String,
    /// Trimmed; must not be empty, need not be unique.
    pub name: String,
}

/// Changes to what is stored about Git: absent keeps, null clears, a string replaces. One is
/// needed.
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
    /// A line for the user's shell, run without sandbox and approval for at most an hour.
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
    /// How many of the last turns to drop, at least 1; files stay as they are.
    pub num_turns: u32,
}

/// What a list of threads is sorted by, the newest first.
#[wire(snake, exhaustive)]
pub enum ThreadSortKey {
    CreatedAt,
    UpdatedAt,
    /// The same as `updated_at`.
    #[wire(since = "0.166")]
    RecencyAt,
    /// As threads were moved within their section; needs `sectionId`.
    #[wire(since = "0.166")]
    SectionPosition,
}

/// One working directory, or several.
#[wire(untagged, exhaustive, no_ts, json_name = "")]
pub enum ThreadListCwdFilter {
    One(String),
    #[wire(since = "0.166")]
    Several(Vec<String>),
}

/// What started a thread, to filter by.
#[wire(exhaustive)]
pub enum ThreadSourceKind {
    Cli,
    Vscode,
    Exec,
    /// A server whose clients speak MCP.
    AppServer,
    /// Another thread, for whatever reason.
    SubAgent,
    /// Another thread, for a review.
    SubAgentReview,
    /// Another thread, for a compaction.
    SubAgentCompact,
    /// Another thread, whose model gave a task away.
    SubAgentThreadSpawn,
    /// Another thread, for another reason.
    SubAgentOther,
    Unknown,
}

/// Parameters of `thread/list`.
#[wire(params, default)]
pub struct ThreadListParams {
    /// The `nextCursor` of the page before; absent for the first.
    pub cursor: Option<String>,
    /// Threads per page, from 1 to 100; 25 if absent.
    pub limit: Option<u32>,
    /// `created_at` if absent.
    pub sort_key: Option<ThreadSortKey>,
    /// If absent, only threads of the configured provider; if empty, of all.
    pub model_providers: Option<Vec<String>>,
    /// If absent or empty, only threads that a user started: `cli` and `vscode`.
    pub source_kinds: Option<Vec<ThreadSourceKind>>,
    /// Whether to list only archived threads, or only the others; `false` if absent.
    pub archived: Option<bool>,
    /// Only threads with exactly this working directory.
    pub cwd: Option<ThreadListCwdFilter>,
    /// Threads that are not listed, at most 100.
    #[wire(since = "0.166")]
    pub excluded_thread_ids: Option<Vec<String>>,
    /// `desc` if absent.
    #[wire(since = "0.166")]
    pub sort_direction: Option<SortDirection>,
    /// If absent, threads of every section; null asks for those in none.
    #[wire(since = "0.166")]
    pub section_id: Option<Option<String>>,
    /// If absent, threads of every project; null asks for those in none. No thread is in a project.
    #[wire(since = "0.166")]
    pub project_id: Option<Option<String>>,
    /// Must be absent or empty: what a thread's client calls itself is not indexed.
    #[wire(since = "0.166")]
    pub originators: Option<Vec<String>>,
    /// Has no effect: the index is always current.
    #[wire(since = "0.166", sparse)]
    pub use_state_db_only: bool,
    /// Only threads that agents of this thread were given.
    #[wire(since = "0.166")]
    pub parent_thread_id: Option<String>,
    /// The same, with those that they started in turn.
    #[wire(since = "0.166")]
    pub ancestor_thread_id: Option<String>,
    /// Only threads attached to this one. No thread is attached to another.
    #[wire(since = "0.166")]
    pub attached_to_thread_id: Option<String>,
    /// Only threads whose first message has this text in it; case counts.
    pub search_term: Option<String>,
}

/// Parameters of `thread/loaded/list`.
#[wire(params, default)]
pub struct ThreadLoadedListParams {
    /// A thread id; the list goes on after it.
    pub cursor: Option<String>,
    /// Threads per page; all if absent.
    pub limit: Option<u32>,
}

/// Parameters of `thread/read`.
#[wire(params, default)]
pub struct ThreadReadParams {
    pub thread_id: String,
    /// Fills `turns`; not possible for ephemeral threads, nor before the first message.
    #[wire(default)]
    pub include_turns: bool,
}

/// Parameters of `thread/delete`.
#[wire(params, default)]
pub struct ThreadDeleteParams {
    pub thread_id: String,
}

/// Result of `thread/delete`.
#[wire]
pub struct ThreadDeleteResponse {}

/// Result of `thread/archive`.
#[wire]
pub struct ThreadArchiveResponse {}

/// What became of a subscription.
#[wire]
pub enum ThreadUnsubscribeStatus {
    /// There was none: the thread is not loaded or does not exist.
    NotLoaded,
    /// There was none on this connection.
    NotSubscribed,
    /// It ended. If it was the last one, the thread is unloaded and `thread/closed` follows.
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
    /// How many questions the client is asking the user now.
    #[wire(bigint)]
    pub count: u64,
    /// Whether the time limits of commands stand still meanwhile; so if `count` is not 0.
    pub paused: bool,
}

/// Result of `thread/decrement_elicitation`.
#[wire]
pub struct ThreadDecrementElicitationResponse {
    /// How many questions the client is asking the user now.
    #[wire(bigint)]
    pub count: u64,
    /// Whether the time limits of commands stand still meanwhile; so if `count` is not 0.
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
    /// Without turns; it is not loaded.
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
    /// With the turns that are left.
    pub thread: Thread,
}

/// Result of `thread/list`.
#[wire]
pub struct ThreadListResponse {
    /// Without turns.
    pub data: Vec<Thread>,
    /// What is read of the threads on this page, by their ids.
    #[wire(since = "0.166", experimental = "thread/list.readStates", sent)]
    pub read_states: Option<BTreeMap<String, ThreadReadState>>,
    /// Null on the last page.
    pub next_cursor: Option<String>,
    /// Where the page begins, for the other direction; null if the page is empty.
    #[wire(since = "0.166")]
    pub backwards_cursor: Option<String>,
}

/// Result of `thread/loaded/list`.
#[wire]
pub struct ThreadLoadedListResponse {
    /// Thread ids in ascending order, those of sub-agents and ephemeral threads included.
    pub data: Vec<String>,
    /// Null on the last page.
    pub next_cursor: Option<String>,
}

/// Result of `thread/read`.
#[wire]
pub struct ThreadReadResponse {
    pub thread: Thread,
    /// What is read of it; null if it is not stored.
    #[wire(since = "0.166", experimental = "thread/read.readState", sent)]
    pub read_state: Option<ThreadReadState>,
}
