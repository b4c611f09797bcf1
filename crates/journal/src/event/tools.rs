//! Events of tools: commands, patches, MCP and client tools, searches, images.

use std::collections::BTreeMap;

use quipu_wire::Json;
use serde::{Deserialize, Serialize};

/// How long something took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Elapsed {
    /// Whole seconds.
    pub secs: u64,
    /// The rest.
    pub nanos: u32,
}

impl Elapsed {
    /// In whole milliseconds.
    pub fn as_millis(self) -> i64 {
        i64::try_from(self.secs)
            .unwrap_or(i64::MAX)
            .saturating_mul(1000)
            .saturating_add(i64::from(self.nanos / 1_000_000))
    }

    /// From whole milliseconds; less than none is none.
    pub fn from_millis(millis: i64) -> Self {
        std::time::Duration::from_millis(u64::try_from(millis).unwrap_or_default()).into()
    }
}

impl From<std::time::Duration> for Elapsed {
    fn from(duration: std::time::Duration) -> Self {
        Self {
            secs: duration.as_secs(),
            nanos: duration.subsec_nanos(),
        }
    }
}

/// A command started.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ExecCommandBegin {
    /// The call, and the item's id.
    pub call_id: String,
    /// The session the model can write to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_id: Option<String>,
    /// The turn.
    #[serde(default)]
    pub turn_id: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Where it runs.
    pub cwd: String,
    /// What it seems to do.
    #[serde(default)]
    pub parsed_cmd: Vec<ParsedCommand>,
    /// Who asked for it.
    #[serde(default)]
    pub source: ExecSource,
}

/// A command ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ExecCommandEnd {
    /// The call, and the item's id.
    pub call_id: String,
    /// The session the model can write to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_id: Option<String>,
    /// The turn.
    #[serde(default)]
    pub turn_id: String,
    /// The program and its arguments.
    #[serde(default)]
    pub command: Vec<String>,
    /// Where it ran.
    #[serde(default)]
    pub cwd: String,
    /// What it seems to have done.
    #[serde(default)]
    pub parsed_cmd: Vec<ParsedCommand>,
    /// Who asked for it.
    #[serde(default)]
    pub source: ExecSource,
    /// What was typed into it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interaction_input: Option<String>,
    /// Written empty: the whole output is in `aggregated_output`.
    #[serde(default)]
    pub stdout: String,
    /// Written empty, too.
    #[serde(default)]
    pub stderr: String,
    /// What it printed, both streams as they came.
    #[serde(default)]
    pub aggregated_output: String,
    /// How it ended.
    pub exit_code: i32,
    /// How long it ran.
    #[serde(default)]
    pub duration: Elapsed,
    /// Written empty, too.
    #[serde(default)]
    pub formatted_output: String,
    /// How it ended, in a word. Absent in old files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ExecStatus>,
}

/// Who asked for a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExecSource {
    /// The model, through a shell tool.
    #[default]
    Agent,
    /// The user.
    UserShell,
    /// The model, starting a session.
    UnifiedExecStartup,
    /// The model, writing to a session.
    UnifiedExecInteraction,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExecStatus {
    /// With exit code 0.
    Completed,
    /// In any other way.
    Failed,
    /// It never ran: someone said no.
    Declined,
}

/// What a command seems to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ParsedCommand {
    /// It reads a file.
    Read {
        /// The part of the script.
        cmd: String,
        /// The file's name.
        name: String,
        /// The file's path.
        path: String,
    },
    /// It lists files.
    ListFiles {
        /// The part of the script.
        cmd: String,
        /// The directory.
        path: Option<String>,
    },
    /// It searches.
    Search {
        /// The part of the script.
        cmd: String,
        /// What for.
        query: Option<String>,
        /// Where.
        path: Option<String>,
    },
    /// Nobody can tell.
    Unknown {
        /// The part of the script.
        cmd: String,
    },
}

/// A patch is about to be applied.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PatchApplyBegin {
    /// The call, and the item's id.
    pub call_id: String,
    /// The turn.
    #[serde(default)]
    pub turn_id: String,
    /// Whether nobody had to be asked.
    #[serde(default)]
    pub auto_approved: bool,
    /// The files.
    pub changes: BTreeMap<String, FileChange>,
}

/// A patch was applied, or not.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PatchApplyEnd {
    /// The call, and the item's id.
    pub call_id: String,
    /// The turn.
    #[serde(default)]
    pub turn_id: String,
    /// What the tool said.
    #[serde(default)]
    pub stdout: String,
    /// What it complained about.
    #[serde(default)]
    pub stderr: String,
    /// Whether it worked.
    pub success: bool,
    /// The files.
    #[serde(default)]
    pub changes: BTreeMap<String, FileChange>,
    /// How it ended, in a word. Absent in old files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<PatchStatus>,
}

/// The change of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FileChange {
    /// A new file.
    Add {
        /// All of it.
        content: String,
    },
    /// A removed file.
    Delete {
        /// All it held.
        content: String,
    },
    /// A changed file.
    Update {
        /// The hunks.
        unified_diff: String,
        /// Where it went.
        move_path: Option<String>,
    },
}

/// How a patch ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PatchStatus {
    /// Applied.
    Completed,
    /// Not applied, or not wholly.
    Failed,
    /// Someone said no.
    Declined,
}

/// A tool of an MCP server was called.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct McpToolCallBegin {
    /// The call, and the item's id.
    pub call_id: String,
    /// What was called.
    pub invocation: McpInvocation,
}

/// A tool of an MCP server answered.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct McpToolCallEnd {
    /// The call, and the item's id.
    pub call_id: String,
    /// What was called.
    pub invocation: McpInvocation,
    /// How long it took.
    #[serde(default)]
    pub duration: Elapsed,
    /// What came back: an answer, or why there is none.
    pub result: Result<McpResult, String>,
}

/// A call of an MCP tool.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct McpInvocation {
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// The arguments.
    #[serde(default)]
    pub arguments: Option<Json>,
}

/// The answer of an MCP tool.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct McpResult {
    /// The content, as the server sent it.
    #[serde(default)]
    pub content: Vec<Json>,
    /// The structured content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Json>,
    /// Whether the tool calls it an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// More, as the server sent it.
    #[serde(default, rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Json>,
}

/// A tool of the client was called.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DynamicToolCallRequest {
    /// The call, and the item's id.
    pub call_id: String,
    /// The turn.
    pub turn_id: String,
    /// The namespace of the tool, if it is in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub arguments: Json,
}

/// A tool of the client answered.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DynamicToolCallResponse {
    /// The call, and the item's id.
    pub call_id: String,
    /// The turn.
    pub turn_id: String,
    /// The namespace of the tool, if it is in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub arguments: Json,
    /// What came back, as the client sent it.
    #[serde(default)]
    pub content_items: Vec<Json>,
    /// Whether it worked.
    pub success: bool,
    /// Why it did not.
    #[serde(default)]
    pub error: Option<String>,
    /// How long it took.
    #[serde(default)]
    pub duration: Elapsed,
}

/// The provider began a web search.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WebSearchBegin {
    /// The item's id.
    pub call_id: String,
}

/// The provider ended a web search.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WebSearchEnd {
    /// The item's id.
    pub call_id: String,
    /// What was looked for, in a line.
    #[serde(default)]
    pub query: String,
    /// What was done.
    pub action: WebSearchAction,
}

/// What a web search did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum WebSearchAction {
    /// Searched.
    Search {
        /// For this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        query: Option<String>,
        /// For all of these.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queries: Option<Vec<String>>,
    },
    /// Opened a page.
    OpenPage {
        /// Its address.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<String>,
    },
    /// Searched a page.
    FindInPage {
        /// Its address.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<String>,
        /// For this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pattern: Option<String>,
    },
    /// Something else.
    #[serde(other)]
    Other,
}

/// The model looked at an image.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ViewImageToolCall {
    /// The call, and the item's id.
    pub call_id: String,
    /// The image.
    pub path: String,
}

/// The provider drew an image.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ImageGenerationEnd {
    /// The item's id.
    pub call_id: String,
    /// How far it got, in the provider's words.
    pub status: String,
    /// The prompt it used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revised_prompt: Option<String>,
    /// The image, in base 64.
    pub result: String,
    /// Where it was saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_path: Option<String>,
}
