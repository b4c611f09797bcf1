//! Items: what was said and done in a turn, in order.

use std::collections::BTreeMap;

use quipu_wire_macros::wire;

use crate::{Json, MessagePhase, ReasoningEffort, UserInput};

/// The state of a sub-agent, and what it said last.
#[wire]
pub struct CollabAgentState {
    pub status: CollabAgentStatus,
    /// What it said last if `completed`, what went wrong if `errored`, else null.
    pub message: Option<String>,
}

/// The state of a sub-agent.
#[wire]
pub enum CollabAgentStatus {
    /// It is being started.
    PendingInit,
    Running,
    /// Its turn was interrupted; it can go on.
    Interrupted,
    /// Its turn ended well.
    Completed,
    /// Its turn failed.
    Errored,
    /// It was closed.
    Shutdown,
    /// There is no such agent.
    NotFound,
}

/// What an agent does with its sub-agents.
#[wire]
pub enum CollabAgentTool {
    /// Starts one.
    SpawnAgent,
    /// Gives one something more to do.
    SendInput,
    /// Reopens a closed one.
    ResumeAgent,
    /// Waits until the first of several is done.
    Wait,
    /// Ends one and all of its own sub-agents.
    CloseAgent,
}

/// How far a call about sub-agents has come.
#[wire]
pub enum CollabAgentToolCallStatus {
    InProgress,
    Completed,
    /// It failed, or one of the agents is `errored` or `notFound`.
    Failed,
}

/// What a part of a command line seems to do; a guess, for display only.
#[wire(tag = "type")]
pub enum CommandAction {
    /// Shows a file.
    Read {
        /// The part of the command line.
        command: String,
        /// The name of the file, to show.
        name: String,
        /// The path as written, below the target of a `cd` before it.
        path: String,
    },
    /// Lists files.
    ListFiles {
        /// The part of the command line.
        command: String,
        path: Option<String>,
    },
    /// Searches in files or for files.
    Search {
        /// The part of the command line.
        command: String,
        query: Option<String>,
        path: Option<String>,
    },
    /// A command line with anything in it that is not understood.
    Unknown {
        /// The whole command line.
        command: String,
    },
}

/// Who started a command, and how.
#[wire]
pub enum CommandExecutionSource {
    /// The model, with a shell tool.
    Agent,
    /// The user, with `thread/shellCommand`.
    UserShell,
    /// The model, as a process that may go on in the background.
    UnifiedExecStartup,
    /// The model, by writing to such a process.
    UnifiedExecInteraction,
}

/// How far a command has come.
#[wire]
pub enum CommandExecutionStatus {
    /// It runs or waits for approval.
    InProgress,
    /// It ended with exit code 0.
    Completed,
    /// It ended in another way, or could not be run.
    Failed,
    /// It was not approved.
    Declined,
}

/// A part of what a tool of the client returns.
#[wire(tag = "type")]
pub enum DynamicToolCallOutputContentItem {
    InputText {
        text: String,
    },
    InputImage {
        /// An `http`, `https` or `data` URL.
        image_url: String,
    },
}

/// How far a call of a client's tool has come.
#[wire]
pub enum DynamicToolCallStatus {
    /// The client has not answered yet.
    InProgress,
    Completed,
    Failed,
}

/// The change to one file of a patch.
#[wire]
pub struct FileUpdateChange {
    /// The absolute path, before a move.
    pub path: String,
    pub kind: PatchChangeKind,
    /// The hunks of an update, without file headers; else the whole file.
    pub diff: String,
}

/// What a hook wants the model to go on with.
#[wire]
pub struct HookPromptFragment {
    pub text: String,
    /// The `id` of the hook's run.
    pub hook_run_id: String,
}

/// Why a call brought no result.
#[wire]
pub struct McpToolCallError {
    pub message: String,
}

/// What an MCP server returned.
#[wire]
pub struct McpToolCallResult {
    /// Content blocks of MCP, as received.
    pub content: Vec<Json>,
    /// The result as one value, if the tool returns one.
    pub structured_content: Option<Json>,
}

/// How far a call of an MCP tool has come.
#[wire]
pub enum McpToolCallStatus {
    InProgress,
    Completed,
    /// It brought no result, the tool reported an error, or the user rejected it.
    Failed,
}

/// The notes on earlier threads that a message relies on.
#[wire]
pub struct MemoryCitation {
    pub entries: Vec<MemoryCitationEntry>,
    /// The threads that the notes are about.
    pub thread_ids: Vec<String>,
}

/// Some lines of a file of notes.
#[wire]
pub struct MemoryCitationEntry {
    pub path: String,
    pub line_start: u32,
    pub line_end: u32,
    /// What the model says about them.
    pub note: String,
}

/// How far a patch has come.
#[wire]
pub enum PatchApplyStatus {
    /// It is being applied or waits for approval.
    InProgress,
    Completed,
    Failed,
    /// It was not approved.
    Declined,
}

/// What a patch does to a file.
#[wire(tag = "type", fields = "snake")]
pub enum PatchChangeKind {
    Add,
    Delete,
    Update {
        /// The new absolute path, if the file is also moved.
        move_path: Option<String>,
    },
}

/// One thing that was said or done. `item/started` announces it, deltas may add to it,
/// `item/completed` has it in full.
#[wire(tag = "type")]
pub enum ThreadItem {
    /// What the user said; started and completed at once.
    UserMessage { id: String, content: Vec<UserInput> },
    /// What hooks want the model to go on with.
    HookPrompt {
        id: String,
        fragments: Vec<HookPromptFragment>,
    },
    /// What the model says to the user.
    AgentMessage {
        id: String,
        /// Empty at the start if deltas follow.
        text: String,
        /// Null if the model does not say.
        #[wire(default)]
        phase: Option<MessagePhase>,
        /// The notes on earlier threads that it cites.
        #[wire(default)]
        memory_citation: Option<MemoryCitation>,
    },
    /// The plan that the model proposes in plan mode, cut out of what it says.
    Plan { id: String, text: String },
    /// What the model thought before it spoke or acted.
    Reasoning {
        id: String,
        /// The provider's summary, one string per part.
        #[wire(default)]
        summary: Vec<String>,
        /// The thoughts themselves, one string per part; few providers show them.
        #[wire(default)]
        content: Vec<String>,
    },
    /// A command and what came of it.
    CommandExecution {
        id: String,
        /// The command line with shell quoting.
        command: String,
        cwd: String,
        /// The name of a process that may go on in the background; else null.
        process_id: Option<String>,
        #[wire(default = "\"agent\"")]
        source: CommandExecutionSource,
        status: CommandExecutionStatus,
        /// What it seems to do, one entry per understood part.
        command_actions: Vec<CommandAction>,
        /// Both output streams as they came, at most 1 MiB; null at the start and if empty.
        aggregated_output: Option<String>,
        /// Null until it ended; 124 after a timeout, -1 if it never ran.
        exit_code: Option<i32>,
        /// In milliseconds; null until it ended.
        duration_ms: Option<i64>,
    },
    /// A patch.
    FileChange {
        id: String,
        /// Sorted by path.
        changes: Vec<FileUpdateChange>,
        status: PatchApplyStatus,
    },
    /// A call of a tool of an MCP server.
    McpToolCall {
        id: String,
        server: String,
        tool: String,
        status: McpToolCallStatus,
        /// Null if the model gave none.
        arguments: Json,
        /// Also set when the tool itself reports an error.
        result: Option<McpToolCallResult>,
        /// Set when the call failed or the user rejected it.
        error: Option<McpToolCallError>,
        /// In milliseconds; null until it ended.
        duration_ms: Option<i64>,
    },
    /// A call of a tool that the client brought.
    DynamicToolCall {
        id: String,
        /// The namespace of the tool, if it is in one.
        #[wire(since = "0.166", sparse)]
        namespace: Option<String>,
        tool: String,
        arguments: Json,
        status: DynamicToolCallStatus,
        /// What the client answered; null until then.
        content_items: Option<Vec<DynamicToolCallOutputContentItem>>,
        /// What the client answered; null until then.
        success: Option<bool>,
        /// In milliseconds; null until it ended.
        duration_ms: Option<i64>,
    },
    /// What an agent does with sub-agents, each of which is a thread of its own.
    CollabAgentToolCall {
        id: String,
        tool: CollabAgentTool,
        status: CollabAgentToolCallStatus,
        /// The agent that makes the call.
        sender_thread_id: String,
        /// The sub-agents it is about; for a spawn, none until it exists.
        receiver_thread_ids: Vec<String>,
        /// What the sub-agent is sent; null for waiting, closing and resuming.
        prompt: Option<String>,
        /// Set for a spawn: the model asked for, then the one in use.
        model: Option<String>,
        /// Set for a spawn.
        reasoning_effort: Option<ReasoningEffort>,
        /// The last known states by thread id.
        agents_states: BTreeMap<String, CollabAgentState>,
    },
    /// Something that the model looked up on the web.
    WebSearch {
        id: String,
        /// What to show of it; empty at the start if it is not known yet.
        query: String,
        action: Option<WebSearchAction>,
    },
    /// An image file that the model looks at.
    ImageView { id: String, path: String },
    /// An image that the model makes.
    ImageGeneration {
        id: String,
        /// The provider's word, such as `in_progress` or `completed`.
        status: String,
        /// What the provider made of the prompt.
        revised_prompt: Option<String>,
        /// The image in base64; empty until it is done.
        result: String,
        /// The file that the server keeps it in.
        #[wire(sparse)]
        saved_path: Option<String>,
    },
    /// A review begins.
    EnteredReviewMode {
        id: String,
        /// What is reviewed, in a few words.
        review: String,
    },
    /// A review ends.
    ExitedReviewMode {
        id: String,
        /// The review as text, findings included.
        review: String,
    },
    /// The model's history is replaced by a shorter one.
    ContextCompaction { id: String },
}

/// What the model did on the web.
#[wire(tag = "type")]
pub enum WebSearchAction {
    /// Searched.
    Search {
        query: Option<String>,
        /// All queries, if it made several.
        queries: Option<Vec<String>>,
    },
    /// Opened a page.
    OpenPage { url: Option<String> },
    /// Looked for something on a page.
    FindInPage {
        url: Option<String>,
        pattern: Option<String>,
    },
    /// Something else, or not known yet.
    Other,
}
