//! MODDOC

use std::collections::BTreeMap;

use quipu_wire_macros::wire;

use crate::Json;

/// DOC
#[wire(root, tag = "type", snake, fields = "snake")]
pub enum ContentItem {
    InputText { text: String },
    InputImage { image_url: String },
    OutputText { text: String },
}

/// DOC
#[wire(root, untagged)]
pub enum FunctionCallOutputBody {
    Text(String),
    Items(Vec<FunctionCallOutputContentItem>),
}

/// DOC
#[wire(root, tag = "type", snake, fields = "snake")]
pub enum FunctionCallOutputContentItem {
    InputText {
        text: String,
    },
    InputImage {
        image_url: String,
        #[wire(sparse)]
        detail: Option<ImageDetail>,
    },
}

/// DOC
#[wire(root, snake)]
pub struct GhostCommit {
    pub id: String,
    pub parent: Option<String>,
    pub preexisting_untracked_files: Vec<String>,
    pub preexisting_untracked_dirs: Vec<String>,
}

/// DOC
#[wire(root)]
pub enum ImageDetail {
    Auto,
    Low,
    High,
    Original,
}

/// DOC
#[wire(root, tag = "type")]
pub enum LocalShellAction {
    Exec(LocalShellExecAction),
}

/// What a local shell call runs.
#[wire(root, json_name = "", snake)]
pub struct LocalShellExecAction {
    pub command: Vec<String>,
    #[wire(bigint)]
    pub timeout_ms: Option<u64>,
    pub working_directory: Option<String>,
    pub env: Option<BTreeMap<String, String>>,
    pub user: Option<String>,
}

/// DOC
#[wire(root, snake)]
pub enum LocalShellStatus {
    Completed,
    InProgress,
    Incomplete,
}

/// DOC
#[wire(root, apart, snake)]
pub enum MessagePhase {
    Commentary,
    FinalAnswer,
}

/// DOC
#[wire(root, tag = "type", snake)]
pub enum ReasoningItemContent {
    ReasoningText { text: String },
    Text { text: String },
}

/// DOC
#[wire(root, tag = "type", snake)]
pub enum ReasoningItemReasoningSummary {
    SummaryText { text: String },
}

/// DOC
#[wire(root, tag = "type", snake, fields = "snake", lenient)]
pub enum ResponseItem {
    Message {
        role: String,
        content: Vec<ContentItem>,
        #[wire(sparse)]
        end_turn: Option<bool>,
        #[wire(sparse)]
        phase: Option<MessagePhase>,
        #[wire(write_only)]
        id: Option<String>,
    },
    Reasoning {
        summary: Vec<ReasoningItemReasoningSummary>,
        #[wire(sparse, default)]
        content: Option<Vec<ReasoningItemContent>>,
        encrypted_content: Option<String>,
    },
    LocalShellCall {
        call_id: Option<String>,
        status: LocalShellStatus,
        action: LocalShellAction,
        #[wire(write_only)]
        id: Option<String>,
    },
    FunctionCall {
        name: String,
        #[wire(sparse)]
        namespace: Option<String>,
        arguments: String,
        call_id: String,
        #[wire(write_only)]
        id: Option<String>,
    },
    ToolSearchCall {
        call_id: Option<String>,
        #[wire(sparse)]
        status: Option<String>,
        execution: String,
        #[wire(unknown)]
        arguments: Json,
        #[wire(write_only)]
        id: Option<String>,
    },
    FunctionCallOutput {
        call_id: String,
        output: FunctionCallOutputBody,
    },
    CustomToolCall {
        #[wire(sparse)]
        status: Option<String>,
        call_id: String,
        name: String,
        input: String,
        #[wire(write_only)]
        id: Option<String>,
    },
    CustomToolCallOutput {
        call_id: String,
        #[wire(sparse)]
        name: Option<String>,
        output: FunctionCallOutputBody,
    },
    ToolSearchOutput {
        call_id: Option<String>,
        status: String,
        execution: String,
        #[wire(unknown)]
        tools: Vec<Json>,
    },
    WebSearchCall {
        #[wire(sparse)]
        status: Option<String>,
        #[wire(sparse)]
        action: Option<ResponsesApiWebSearchAction>,
        #[wire(write_only)]
        id: Option<String>,
    },
    ImageGenerationCall {
        id: String,
        status: String,
        #[wire(sparse)]
        revised_prompt: Option<String>,
        result: String,
    },
    GhostSnapshot {
        ghost_commit: GhostCommit,
    },
    Compaction {
        encrypted_content: String,
    },
    Other,
}

/// DOC
#[wire(ts_name = "WebSearchAction", root, tag = "type", snake, lenient)]
pub enum ResponsesApiWebSearchAction {
    Search {
        #[wire(sparse)]
        query: Option<String>,
        #[wire(sparse)]
        queries: Option<Vec<String>>,
    },
    OpenPage {
        #[wire(sparse)]
        url: Option<String>,
    },
    FindInPage {
        #[wire(sparse)]
        url: Option<String>,
        #[wire(sparse)]
        pattern: Option<String>,
    },
    Other,
}
