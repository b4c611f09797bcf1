//! Commands of the user that run at fixed points of a thread, as clients see them run.

use quipu_wire_macros::wire;

/// The point at which a hook runs.
#[wire]
pub enum HookEventName {
    /// Before the model runs a command; the hook can block it.
    PreToolUse,
    /// After the model ran a command; the hook can replace what the model reads of it.
    PostToolUse,
    /// Before the first turn of a thread that was started or resumed.
    SessionStart,
    /// Before the model reads the user's input; the hook can block it.
    UserPromptSubmit,
    /// When the model is done; the hook can make it go on.
    Stop,
}

/// Whether the turn waits for a hook.
#[wire]
pub enum HookExecutionMode {
    /// It waits.
    Sync,
    /// It goes on; reserved, such hooks are skipped.
    Async,
}

/// What a hook is.
#[wire]
pub enum HookHandlerType {
    /// A shell command.
    Command,
    /// A question to a model; reserved, such hooks are skipped.
    Prompt,
    /// A task for an agent; reserved, such hooks are skipped.
    Agent,
}

/// Something that a hook had to say.
#[wire]
pub struct HookOutputEntry {
    pub kind: HookOutputEntryKind,
    pub text: String,
}

/// What a hook's words are for.
#[wire]
pub enum HookOutputEntryKind {
    /// A message to the user.
    Warning,
    /// Why the hook ends the turn.
    Stop,
    /// An objection, which the model gets to read.
    Feedback,
    /// Something for the model to know.
    Context,
    /// Why the hook failed.
    Error,
}

/// How far a hook has come.
#[wire]
pub enum HookRunStatus {
    Running,
    /// It ended and let things go their way.
    Completed,
    /// It failed or took too long, which blocks nothing.
    Failed,
    /// It forbade the step that it ran for.
    Blocked,
    /// It ended the turn.
    Stopped,
}

/// One run of a hook.
#[wire]
pub struct HookRunSummary {
    /// `<event>:<displayOrder>:<sourcePath>`, the same for each run of a hook.
    pub id: String,
    pub event_name: HookEventName,
    pub handler_type: HookHandlerType,
    pub execution_mode: HookExecutionMode,
    pub scope: HookScope,
    /// The `hooks.json` that declares the hook.
    pub source_path: String,
    /// The place among all hooks, counted from 0.
    #[wire(bigint)]
    pub display_order: i64,
    pub status: HookRunStatus,
    /// What to show while it runs, if the hook declares it.
    pub status_message: Option<String>,
    /// In Unix seconds.
    #[wire(bigint)]
    pub started_at: i64,
    /// In Unix seconds; null while it runs.
    #[wire(bigint)]
    pub completed_at: Option<i64>,
    /// In milliseconds; null while it runs.
    #[wire(bigint)]
    pub duration_ms: Option<i64>,
    /// Empty while it runs.
    pub entries: Vec<HookOutputEntry>,
}

/// What a hook belongs to.
#[wire]
pub enum HookScope {
    /// The whole thread: hooks of `sessionStart`.
    Thread,
    /// One turn: all other hooks.
    Turn,
}

/// Parameters of the notification `hook/started`.
#[wire]
pub struct HookStartedNotification {
    pub thread_id: String,
    pub turn_id: Option<String>,
    pub run: HookRunSummary,
}

/// Parameters of the notification `hook/completed`.
#[wire]
pub struct HookCompletedNotification {
    pub thread_id: String,
    pub turn_id: Option<String>,
    pub run: HookRunSummary,
}

/// Where a hook comes from.
#[wire]
pub enum HookSource {
    /// The directory of the system's administrator.
    System,
    /// The home directory.
    User,
    /// A trusted project.
    Project,
}

/// Whether a hook may run.
#[wire]
pub enum HookTrustStatus {
    /// The administrator installed it.
    Managed,
    /// The user did, or trusts the project.
    Trusted,
}

/// A hook in force.
#[wire]
pub struct HookMetadata {
    /// Identifies the hook in the list.
    pub key: String,
    pub event_name: HookEventName,
    pub handler_type: HookHandlerType,
    /// What the user's shell is given.
    pub command: String,
    /// Whether the turn goes on meanwhile; never.
    #[wire(rename = "async")]
    pub is_async: bool,
    /// Which tools or sources it is for; null for all.
    pub matcher: Option<String>,
    #[wire(bigint)]
    pub timeout_sec: u64,
    /// What to show while it runs.
    pub status_message: Option<String>,
    /// Always null.
    pub additional_context_limit: Option<u32>,
    /// The `hooks.json` that declares it.
    pub source_path: String,
    pub source: HookSource,
    /// Always null.
    pub plugin_id: Option<String>,
    /// Always null.
    pub environment_id: Option<String>,
    /// The place among all hooks, counted from 0.
    #[wire(bigint)]
    pub display_order: i64,
    /// Always true.
    pub enabled: bool,
    /// Whether the administrator installed it.
    pub is_managed: bool,
    /// Changes with the command and what else is declared.
    pub current_hash: String,
    pub trust_status: HookTrustStatus,
}

/// Something of a `hooks.json` that is not in force.
#[wire]
pub struct HookErrorInfo {
    pub path: String,
    pub message: String,
}

/// The hooks of one directory.
#[wire]
pub struct HooksListEntry {
    pub cwd: String,
    pub hooks: Vec<HookMetadata>,
    pub warnings: Vec<String>,
    pub errors: Vec<HookErrorInfo>,
}

/// Parameters of `hooks/list`.
#[wire(params, default)]
pub struct HooksListParams {
    /// The directories to look at; the server's own if empty.
    #[wire(sparse)]
    pub cwds: Vec<String>,
    /// A loaded thread, whose directory is looked at instead.
    pub thread_id: Option<String>,
}

/// Result of `hooks/list`.
#[wire]
pub struct HooksListResponse {
    pub data: Vec<HooksListEntry>,
}
