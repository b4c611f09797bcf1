//! The model's history in the form of the Responses API, for raw events and imported histories.

use std::collections::BTreeMap;

use quipu_wire_macros::wire;

use crate::Json;

/// A part of a message.
#[wire(root, tag = "type", snake, fields = "snake")]
pub enum ContentItem {
    InputText {
        text: String,
    },
    InputImage {
        /// An `http`, `https` or `data` URL.
        image_url: String,
    },
    OutputText {
        text: String,
    },
}

/// What a tool returned.
#[wire(root, untagged)]
pub enum FunctionCallOutputBody {
    Text(String),
    Items(Vec<FunctionCallOutputContentItem>),
}

/// A part of what a tool returned.
#[wire(root, tag = "type", snake, fields = "snake")]
pub enum FunctionCallOutputContentItem {
    InputText {
        text: String,
    },
    InputImage {
        /// An `http`, `https` or `data` URL.
        image_url: String,
        #[wire(sparse)]
        detail: Option<ImageDetail>,
    },
}

/// A commit that no branch holds, which keeps the files as they were before a turn.
#[wire(root, snake)]
pub struct GhostCommit {
    pub id: String,
    pub parent: Option<String>,
    /// Files that Git did not know even then, so that undoing spares them.
    pub preexisting_untracked_files: Vec<String>,
    /// Directories that Git did not know even then, so that undoing spares them.
    pub preexisting_untracked_dirs: Vec<String>,
}

/// How closely the model looks at an image.
#[wire(root)]
pub enum ImageDetail {
    /// As the model chooses.
    Auto,
    Low,
    High,
    /// At its full size.
    Original,
}

/// What a local shell call does.
#[wire(root, tag = "type")]
pub enum LocalShellAction {
    Exec(LocalShellExecAction),
}

/// What a local shell call runs.
#[wire(root, json_name = "", snake)]
pub struct LocalShellExecAction {
    /// The program and its arguments.
    pub command: Vec<String>,
    #[wire(bigint)]
    pub timeout_ms: Option<u64>,
    pub working_directory: Option<String>,
    pub env: Option<BTreeMap<String, String>>,
    /// The user to run it as.
    pub user: Option<String>,
}

/// How far a local shell call has come.
#[wire(root, snake)]
pub enum LocalShellStatus {
    Completed,
    InProgress,
    /// The model was cut off before it finished the call.
    Incomplete,
}

/// Where in the course of a turn a message stands.
#[wire(root, apart, snake)]
pub enum MessagePhase {
    /// Said while still at work.
    Commentary,
    /// The answer to the user.
    FinalAnswer,
}

/// A part of the model's thoughts.
#[wire(root, tag = "type", snake)]
pub enum ReasoningItemContent {
    ReasoningText { text: String },
    Text { text: String },
}

/// A part of the summary of the model's thoughts.
#[wire(root, tag = "type", snake)]
pub enum ReasoningItemReasoningSummary {
    SummaryText { text: String },
}

/// One item of the model's history; ids that the provider gave are read but not written.
#[wire(root, tag = "type", snake, fields = "snake", lenient)]
pub enum ResponseItem {
    /// Something said.
    Message {
        /// `user`, `assistant` or `developer`.
        role: String,
        content: Vec<ContentItem>,
        /// Whether the model wants the turn to end here.
        #[wire(sparse)]
        end_turn: Option<bool>,
        #[wire(sparse)]
        phase: Option<MessagePhase>,
        #[wire(write_only)]
        id: Option<String>,
    },
    /// What the model thought.
    Reasoning {
        summary: Vec<ReasoningItemReasoningSummary>,
        #[wire(sparse, default)]
        content: Option<Vec<ReasoningItemContent>>,
        /// The thoughts in a form that only the provider can read.
        encrypted_content: Option<String>,
    },
    /// A call of the provider's own shell tool.
    LocalShellCall {
        call_id: Option<String>,
        status: LocalShellStatus,
        action: LocalShellAction,
        #[wire(write_only)]
        id: Option<String>,
    },
    /// A call of a tool with arguments in JSON.
    FunctionCall {
        name: String,
        /// The group of tools that the name belongs to.
        #[wire(sparse)]
        namespace: Option<String>,
        /// JSON in a string, as the model wrote it.
        arguments: String,
        call_id: String,
        #[wire(write_only)]
        id: Option<String>,
    },
    /// A search for tools that are not listed to the model.
    ToolSearchCall {
        call_id: Option<String>,
        #[wire(sparse)]
        status: Option<String>,
        /// Who searches: `client` or `server`.
        execution: String,
        #[wire(unknown)]
        arguments: Json,
        #[wire(write_only)]
        id: Option<String>,
    },
    /// What the call of a tool returned.
    FunctionCallOutput {
        call_id: String,
        output: FunctionCallOutputBody,
    },
    /// A call of a tool that takes plain text.
    CustomToolCall {
        #[wire(sparse)]
        status: Option<String>,
        call_id: String,
        name: String,
        /// The text, as the model wrote it.
        input: String,
        #[wire(write_only)]
        id: Option<String>,
    },
    /// What such a call returned.
    CustomToolCallOutput {
        call_id: String,
        #[wire(sparse)]
        name: Option<String>,
        output: FunctionCallOutputBody,
    },
    /// The tools that were found.
    ToolSearchOutput {
        call_id: Option<String>,
        status: String,
        /// Who searched: `client` or `server`.
        execution: String,
        #[wire(unknown)]
        tools: Vec<Json>,
    },
    /// Something that the model looked up on the web, done by the provider.
    WebSearchCall {
        #[wire(sparse)]
        status: Option<String>,
        #[wire(sparse)]
        action: Option<ResponsesApiWebSearchAction>,
        #[wire(write_only)]
        id: Option<String>,
    },
    /// An image that the model made, done by the provider.
    ImageGenerationCall {
        id: String,
        status: String,
        #[wire(sparse)]
        revised_prompt: Option<String>,
        /// The image in base64.
        result: String,
    },
    /// The files as they were before a turn; never shown to the model.
    GhostSnapshot { ghost_commit: GhostCommit },
    /// A history that the provider made shorter.
    Compaction {
        /// That history in a form that only the provider can read.
        encrypted_content: String,
    },
    /// An item that this version does not know.
    Other,
}

/// What the model did on the web.
#[wire(ts_name = "WebSearchAction", root, tag = "type", snake, lenient)]
pub enum ResponsesApiWebSearchAction {
    Search {
        #[wire(sparse)]
        query: Option<String>,
        /// All queries, if it made several.
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
