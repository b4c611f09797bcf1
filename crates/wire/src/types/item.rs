//! MODDOC

use std::collections::BTreeMap;

use quipu_wire_macros::wire;

use crate::{Json, MessagePhase, ReasoningEffort, UserInput};

/// DOC
#[wire]
pub struct CollabAgentState {
    pub status: CollabAgentStatus,
    pub message: Option<String>,
}

/// DOC
#[wire]
pub enum CollabAgentStatus {
    PendingInit,
    Running,
    Interrupted,
    Completed,
    Errored,
    Shutdown,
    NotFound,
}

/// DOC
#[wire]
pub enum CollabAgentTool {
    SpawnAgent,
    SendInput,
    ResumeAgent,
    Wait,
    CloseAgent,
}

/// DOC
#[wire]
pub enum CollabAgentToolCallStatus {
    InProgress,
    Completed,
    Failed,
}

/// DOC
#[wire(tag = "type")]
pub enum CommandAction {
    Read {
        command: String,
        name: String,
        path: String,
    },
    ListFiles {
        command: String,
        path: Option<String>,
    },
    Search {
        command: String,
        query: Option<String>,
        path: Option<String>,
    },
    Unknown {
        command: String,
    },
}

/// DOC
#[wire]
pub enum CommandExecutionSource {
    Agent,
    UserShell,
    UnifiedExecStartup,
    UnifiedExecInteraction,
}

/// DOC
#[wire]
pub enum CommandExecutionStatus {
    InProgress,
    Completed,
    Failed,
    Declined,
}

/// DOC
#[wire(tag = "type")]
pub enum DynamicToolCallOutputContentItem {
    InputText { text: String },
    InputImage { image_url: String },
}

/// DOC
#[wire]
pub enum DynamicToolCallStatus {
    InProgress,
    Completed,
    Failed,
}

/// DOC
#[wire]
pub struct FileUpdateChange {
    pub path: String,
    pub kind: PatchChangeKind,
    pub diff: String,
}

/// DOC
#[wire]
pub struct HookPromptFragment {
    pub text: String,
    pub hook_run_id: String,
}

/// DOC
#[wire]
pub struct McpToolCallError {
    pub message: String,
}

/// DOC
#[wire]
pub struct McpToolCallResult {
    pub content: Vec<Json>,
    pub structured_content: Option<Json>,
}

/// DOC
#[wire]
pub enum McpToolCallStatus {
    InProgress,
    Completed,
    Failed,
}

/// DOC
#[wire]
pub struct MemoryCitation {
    pub entries: Vec<MemoryCitationEntry>,
    pub thread_ids: Vec<String>,
}

/// DOC
#[wire]
pub struct MemoryCitationEntry {
    pub path: String,
    pub line_start: u32,
    pub line_end: u32,
    pub note: String,
}

/// DOC
#[wire]
pub enum PatchApplyStatus {
    InProgress,
    Completed,
    Failed,
    Declined,
}

/// DOC
#[wire(tag = "type", fields = "snake")]
pub enum PatchChangeKind {
    Add,
    Delete,
    Update { move_path: Option<String> },
}

/// DOC
#[wire(tag = "type")]
pub enum ThreadItem {
    UserMessage {
        id: String,
        content: Vec<UserInput>,
    },
    HookPrompt {
        id: String,
        fragments: Vec<HookPromptFragment>,
    },
    AgentMessage {
        id: String,
        text: String,
        #[wire(default)]
        phase: Option<MessagePhase>,
        #[wire(default)]
        memory_citation: Option<MemoryCitation>,
    },
    Plan {
        id: String,
        text: String,
    },
    Reasoning {
        id: String,
        #[wire(default)]
        summary: Vec<String>,
        #[wire(default)]
        content: Vec<String>,
    },
    CommandExecution {
        id: String,
        command: String,
        cwd: String,
        process_id: Option<String>,
        #[wire(default = "\"agent\"")]
        source: CommandExecutionSource,
        status: CommandExecutionStatus,
        command_actions: Vec<CommandAction>,
        aggregated_output: Option<String>,
        exit_code: Option<i32>,
        duration_ms: Option<i64>,
    },
    FileChange {
        id: String,
        changes: Vec<FileUpdateChange>,
        status: PatchApplyStatus,
    },
    McpToolCall {
        id: String,
        server: String,
        tool: String,
        status: McpToolCallStatus,
        arguments: Json,
        result: Option<McpToolCallResult>,
        error: Option<McpToolCallError>,
        duration_ms: Option<i64>,
    },
    DynamicToolCall {
        id: String,
        tool: String,
        arguments: Json,
        status: DynamicToolCallStatus,
        content_items: Option<Vec<DynamicToolCallOutputContentItem>>,
        success: Option<bool>,
        duration_ms: Option<i64>,
    },
    CollabAgentToolCall {
        id: String,
        tool: CollabAgentTool,
        status: CollabAgentToolCallStatus,
        sender_thread_id: String,
        receiver_thread_ids: Vec<String>,
        prompt: Option<String>,
        model: Option<String>,
        reasoning_effort: Option<ReasoningEffort>,
        agents_states: BTreeMap<String, CollabAgentState>,
    },
    WebSearch {
        id: String,
        query: String,
        action: Option<WebSearchAction>,
    },
    ImageView {
        id: String,
        path: String,
    },
    ImageGeneration {
        id: String,
        status: String,
        revised_prompt: Option<String>,
        result: String,
        #[wire(sparse)]
        saved_path: Option<String>,
    },
    EnteredReviewMode {
        id: String,
        review: String,
    },
    ExitedReviewMode {
        id: String,
        review: String,
    },
    ContextCompaction {
        id: String,
    },
}

/// DOC
#[wire(tag = "type")]
pub enum WebSearchAction {
    Search {
        query: Option<String>,
        queries: Option<Vec<String>>,
    },
    OpenPage {
        url: Option<String>,
    },
    FindInPage {
        url: Option<String>,
        pattern: Option<String>,
    },
    Other,
}
