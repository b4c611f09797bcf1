//! Items as `item_completed` stores them. Paginated rollouts store every visible item this way; others
//! only the plan.

use std::collections::BTreeMap;

use quipu_wire::{HookPromptFragment, Json};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{
    CollabItem, Elapsed, ExecSource, ExecStatus, FileChange, McpResult, MemoryCitation,
    ParsedCommand, PatchStatus, ReviewOutput, TextElement, WebSearchAction,
};

/// An item is finished.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ItemCompleted {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// The item.
    pub item: TurnItem,
    /// When it began, in milliseconds since the epoch. Absent in files of the old form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at_ms: Option<i64>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at_ms: Option<i64>,
}

/// Makes [`TurnItem`] from rows of `Kind => Payload`. Every payload has an `id`.
macro_rules! turn_items {
    ($($(#[$doc:meta])* $kind:ident => $payload:ty,)*) => {
        /// The items, by the `type` that is stored.
        #[derive(Debug, Clone)]
        pub enum TurnItem {
            $($(#[$doc])* $kind($payload),)*
            /// Any other.
            Other,
        }

        impl TurnItem {
            /// Its id; empty where the kind is not known.
            pub(crate) fn id(&self) -> &str {
                match self {
                    $(Self::$kind(item) => &item.id,)*
                    Self::Other => "",
                }
            }

            /// The same with this id.
            pub(crate) fn with_id(mut self, id: String) -> Self {
                match &mut self {
                    $(Self::$kind(item) => item.id = id,)*
                    Self::Other => {}
                }
                self
            }
        }

        impl<'de> Deserialize<'de> for TurnItem {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                #[derive(Deserialize)]
                struct Tag {
                    r#type: String,
                }
                let item = Json::deserialize(from)?;
                let tag: Tag = item.parse().map_err(D::Error::custom)?;
                match tag.r#type.as_str() {
                    $(stringify!($kind) => item.parse().map(Self::$kind).map_err(D::Error::custom),)*
                    _ => Ok(Self::Other),
                }
            }
        }

        impl Serialize for TurnItem {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                #[derive(Serialize)]
                struct Tagged<'a, T> {
                    r#type: &'static str,
                    #[serde(flatten)]
                    item: &'a T,
                }
                match self {
                    $(Self::$kind(item) => {
                        Tagged { r#type: stringify!($kind), item }.serialize(serializer)
                    })*
                    Self::Other => Tagged { r#type: "Other", item: &() }.serialize(serializer),
                }
            }
        }
    };
}

turn_items! {
    /// The user said something.
    UserMessage => UserItem,
    /// A hook made the model go on.
    HookPrompt => HookItem,
    /// The model said something.
    AgentMessage => AgentItem,
    /// The model thought.
    Reasoning => ReasoningItem,
    /// A proposed plan.
    Plan => PlanItem,
    /// A command.
    CommandExecution => CommandItem,
    /// A patch.
    FileChange => PatchItem,
    /// A call of a tool of an MCP server.
    McpToolCall => McpItem,
    /// A call of a tool of the client.
    DynamicToolCall => DynamicItem,
    /// A call to other agents.
    CollabAgentToolCall => CollabItem,
    /// A web search.
    WebSearch => SearchItem,
    /// The model looked at an image.
    ImageView => ViewItem,
    /// An item of a kind that is named in it.
    Extension => ExtensionItem,
    /// A review began.
    EnteredReviewMode => ReviewItem,
    /// A review ended.
    ExitedReviewMode => ReviewedItem,
    /// The history was replaced by a shorter one.
    ContextCompaction => CompactionItem,
}

/// What the user said.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UserItem {
    /// Its id.
    pub id: String,
    /// In parts.
    #[serde(default)]
    pub content: Vec<UserPart>,
}

/// What hooks said.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HookItem {
    /// Its id.
    pub id: String,
    /// In parts.
    pub fragments: Vec<HookPromptFragment>,
}

/// What the model said.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AgentItem {
    /// Its id.
    pub id: String,
    /// In parts.
    #[serde(default)]
    pub content: Vec<AgentPart>,
    /// `commentary` or `final_answer`, where the model says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The memories it drew on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_citation: Option<MemoryCitation>,
}

/// What the model thought.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReasoningItem {
    /// Its id.
    pub id: String,
    /// The summary, in parts.
    #[serde(default)]
    pub summary_text: Vec<String>,
    /// The thoughts themselves.
    #[serde(default)]
    pub raw_content: Vec<String>,
}

/// A proposed plan.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PlanItem {
    /// Its id.
    pub id: String,
    /// Its text.
    pub text: String,
}

/// A patch.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PatchItem {
    /// Its id.
    pub id: String,
    /// The files.
    #[serde(default)]
    pub changes: BTreeMap<String, FileChange>,
    /// How it ended.
    #[serde(default)]
    pub status: Option<PatchStatus>,
    /// What the tool said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stdout: String,
    /// What it complained about.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
}

/// A web search.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SearchItem {
    /// Its id.
    pub id: String,
    /// What was looked for, in a line.
    #[serde(default)]
    pub query: String,
    /// What was done.
    #[serde(default = "other_action")]
    pub action: WebSearchAction,
}

fn other_action() -> WebSearchAction {
    WebSearchAction::Other
}

/// An image that the model looked at.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ViewItem {
    /// Its id.
    pub id: String,
    /// The image, as a `file:` address.
    pub path: String,
}

/// A review began.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReviewItem {
    /// Its id.
    pub id: String,
    /// What is reviewed.
    #[serde(default)]
    pub target: Json,
    /// How to call it.
    #[serde(default)]
    pub user_facing_hint: Option<String>,
}

/// A review ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReviewedItem {
    /// Its id.
    pub id: String,
    /// What the reviewer said.
    #[serde(default)]
    pub review_output: Option<ReviewOutput>,
}

/// The history was replaced by a shorter one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CompactionItem {
    /// Its id.
    pub id: String,
}

/// A part of what the user said.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum UserPart {
    /// Words.
    Text {
        /// The words.
        text: String,
        /// Marked ranges of them.
        #[serde(default)]
        text_elements: Vec<TextElement>,
    },
    /// An image, by its address.
    Image {
        /// The address.
        image_url: String,
    },
    /// An image, by its path.
    LocalImage {
        /// The path.
        path: String,
    },
    /// A skill.
    Skill {
        /// Its name.
        name: String,
        /// Its file.
        path: String,
    },
    /// Something that is mentioned.
    Mention {
        /// Its name.
        name: String,
        /// Where it is.
        path: String,
    },
    /// Anything else.
    #[serde(other)]
    Other,
}

/// A part of what the model said.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum AgentPart {
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// Anything else.
    #[serde(other)]
    Other,
}

/// A command.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CommandItem {
    /// The call.
    pub id: String,
    /// The session the model can write to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_id: Option<String>,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Where it ran, as a `file:` address.
    pub cwd: String,
    /// What it seems to have done.
    #[serde(default)]
    pub parsed_cmd: Vec<ParsedCommand>,
    /// Who asked for it.
    #[serde(default)]
    pub source: ExecSource,
    /// How it ended.
    #[serde(default)]
    pub status: Option<ExecStatus>,
    /// What it printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregated_output: Option<String>,
    /// How it ended, as a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// How long it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Elapsed>,
}

/// Whether a call worked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// It did.
    Completed,
    /// It did not.
    Failed,
    /// Nobody knows yet.
    #[serde(other)]
    InProgress,
}

/// A call of a tool of an MCP server.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct McpItem {
    /// The call.
    pub id: String,
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// The arguments.
    #[serde(default)]
    pub arguments: Json,
    /// Whether it worked.
    pub status: CallStatus,
    /// The answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<McpResult>,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<CallError>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Elapsed>,
}

/// Why a call has no answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CallError {
    /// The reason.
    pub message: String,
}

/// A call of a tool of the client.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DynamicItem {
    /// The call.
    pub id: String,
    /// The namespace of the tool, if it is in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The tool.
    pub tool: String,
    /// The arguments.
    #[serde(default)]
    pub arguments: Json,
    /// Whether it worked.
    pub status: CallStatus,
    /// What came back, as the client sent it.
    #[serde(default)]
    pub content_items: Option<Vec<Json>>,
    /// Whether it worked, in the client's words.
    #[serde(default)]
    pub success: Option<bool>,
    /// Why it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Elapsed>,
}

/// The kind of an extension item that is an image the provider drew.
pub(crate) const IMAGE_GENERATION: &str = "image_gen.generation";

/// An item of a kind of its own, with the members of the one kind that is known.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtensionItem {
    /// Which kind.
    pub kind: String,
    /// Its id.
    pub id: String,
    /// How far it got.
    #[serde(default)]
    pub status: String,
    /// The prompt that was used.
    #[serde(default)]
    pub revised_prompt: Option<String>,
    /// The image, in base 64.
    #[serde(default)]
    pub result: Option<String>,
    /// Written as null.
    #[serde(default)]
    pub transparent_background: Option<Json>,
    /// Written as null.
    #[serde(default)]
    pub failure: Option<Json>,
    /// Where it was saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_path: Option<String>,
    /// Written as null.
    #[serde(default)]
    pub generation_id: Option<Json>,
}
