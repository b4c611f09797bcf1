//! MODDOC

use quipu_wire_macros::wire;

/// DOC
#[wire]
pub enum HookEventName {
    PreToolUse,
    PostToolUse,
    SessionStart,
    UserPromptSubmit,
    Stop,
}

/// DOC
#[wire]
pub enum HookExecutionMode {
    Sync,
    Async,
}

/// DOC
#[wire]
pub enum HookHandlerType {
    Command,
    Prompt,
    Agent,
}

/// DOC
#[wire]
pub struct HookOutputEntry {
    pub kind: HookOutputEntryKind,
    pub text: String,
}

/// DOC
#[wire]
pub enum HookOutputEntryKind {
    Warning,
    Stop,
    Feedback,
    Context,
    Error,
}

/// DOC
#[wire]
pub enum HookRunStatus {
    Running,
    Completed,
    Failed,
    Blocked,
    Stopped,
}

/// DOC
#[wire]
pub struct HookRunSummary {
    pub id: String,
    pub event_name: HookEventName,
    pub handler_type: HookHandlerType,
    pub execution_mode: HookExecutionMode,
    pub scope: HookScope,
    pub source_path: String,
    #[wire(bigint)]
    pub display_order: i64,
    pub status: HookRunStatus,
    pub status_message: Option<String>,
    #[wire(bigint)]
    pub started_at: i64,
    #[wire(bigint)]
    pub completed_at: Option<i64>,
    #[wire(bigint)]
    pub duration_ms: Option<i64>,
    pub entries: Vec<HookOutputEntry>,
}

/// DOC
#[wire]
pub enum HookScope {
    Thread,
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
