//! The `event_msg` lines: what happened in a turn, as both programs store it. The tags, the field
//! names and their order are facts of the format; the table below is the only place that lists
//! the tags.

mod agents;
mod messages;
mod tools;
mod turn_item;

use quipu_wire::Json;
use serde::ser::{Serialize, Serializer};

pub use agents::{
    AgentName, AgentStatus, AgentStatusEntry, CollabCloseEnd, CollabInteractionEnd, CollabItem,
    CollabResumeEnd, CollabSpawnEnd, CollabTool, CollabWaitingEnd,
};
pub use messages::{
    AgentMessage, ByteRange, Citation, ContextCompacted, EnteredReviewMode, ErrorEvent, ErrorInfo,
    ExitedReviewMode, MemoryCitation, ReasoningText, ReviewOutput, TaskComplete, TaskStarted,
    TextElement, ThreadRolledBack, TokenCount, TokenUsage, TokenUsageInfo, TurnAborted, TurnKind,
    UserMessage,
};
pub use tools::{
    DynamicToolCallRequest, DynamicToolCallResponse, Elapsed, ExecCommandBegin, ExecCommandEnd,
    ExecSource, ExecStatus, FileChange, ImageGenerationEnd, McpInvocation, McpResult,
    McpToolCallBegin, McpToolCallEnd, ParsedCommand, PatchApplyBegin, PatchApplyEnd, PatchStatus,
    ViewImageToolCall, WebSearchAction, WebSearchBegin, WebSearchEnd,
};

pub(crate) use turn_item::IMAGE_GENERATION;
pub use turn_item::{
    AgentItem, AgentPart, CallError, CallStatus, CommandItem, CompactionItem, DynamicItem,
    ExtensionItem, HookItem, ItemCompleted, McpItem, PatchItem, PlanItem, ReasoningItem,
    ReviewItem, ReviewedItem, SearchItem, TurnItem, UserItem, UserPart, ViewItem,
};

/// Makes [`Event`] from rows of `Variant: "tag" => Payload`; more tags after `|` are read, too.
macro_rules! events {
    ($($(#[$doc:meta])* $variant:ident: $tag:literal $(| $alias:literal)* => $payload:ty,)*) => {
        /// One stored event.
        #[derive(Debug, Clone)]
        #[non_exhaustive]
        pub enum Event {
            $($(#[$doc])* $variant($payload),)*
            /// An event that makes no item and needs no meaning here, kept as it was.
            Other(Json),
        }

        impl Event {
            /// Whether the table has a row for this tag.
            pub(crate) fn knows(tag: &str) -> bool {
                matches!(tag, $($tag $(| $alias)*)|*)
            }

            /// Reads the payload of an event whose tag is `tag`; an unknown tag is `Other`.
            pub(crate) fn parse(tag: &str, payload: &str) -> serde_json::Result<Self> {
                match tag {
                    $($tag $(| $alias)* => serde_json::from_str(payload).map(Self::$variant),)*
                    _ => serde_json::from_str(payload).map(Self::Other),
                }
            }
        }

        impl Serialize for Event {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                #[derive(serde::Serialize)]
                struct Tagged<'a, T> {
                    r#type: &'static str,
                    #[serde(flatten)]
                    payload: &'a T,
                }
                match self {
                    $(Self::$variant(payload) => Tagged { r#type: $tag, payload }.serialize(serializer),)*
                    Self::Other(payload) => payload.serialize(serializer),
                }
            }
        }
    };
}

events! {
    /// A turn began.
    TaskStarted: "task_started" | "turn_started" => TaskStarted,
    /// A turn ended by itself, well or not.
    TaskComplete: "task_complete" | "turn_complete" => TaskComplete,
    /// A turn was ended from outside.
    TurnAborted: "turn_aborted" => TurnAborted,
    /// The user said something.
    UserMessage: "user_message" => UserMessage,
    /// The model said something.
    AgentMessage: "agent_message" => AgentMessage,
    /// The model summed up its thoughts.
    AgentReasoning: "agent_reasoning" => ReasoningText,
    /// The model's thoughts themselves.
    AgentReasoningRawContent: "agent_reasoning_raw_content" => ReasoningText,
    /// What the thread has cost so far.
    TokenCount: "token_count" => TokenCount,
    /// The history was replaced by a shorter one.
    ContextCompacted: "context_compacted" => ContextCompacted,
    /// A review began.
    EnteredReviewMode: "entered_review_mode" => EnteredReviewMode,
    /// A review ended.
    ExitedReviewMode: "exited_review_mode" => ExitedReviewMode,
    /// The last turns are taken back.
    ThreadRolledBack: "thread_rolled_back" => ThreadRolledBack,
    /// An item is finished. Paginated rollouts store all items so, others only plans.
    ItemCompleted: "item_completed" => ItemCompleted,
    /// The turn failed.
    Error: "error" => ErrorEvent,
    /// A command started.
    ExecCommandBegin: "exec_command_begin" => ExecCommandBegin,
    /// A command ended.
    ExecCommandEnd: "exec_command_end" => ExecCommandEnd,
    /// A patch is about to be applied.
    PatchApplyBegin: "patch_apply_begin" => PatchApplyBegin,
    /// A patch was applied, or not.
    PatchApplyEnd: "patch_apply_end" => PatchApplyEnd,
    /// A tool of an MCP server was called.
    McpToolCallBegin: "mcp_tool_call_begin" => McpToolCallBegin,
    /// A tool of an MCP server answered.
    McpToolCallEnd: "mcp_tool_call_end" => McpToolCallEnd,
    /// A tool of the client was called.
    DynamicToolCallRequest: "dynamic_tool_call_request" => DynamicToolCallRequest,
    /// A tool of the client answered.
    DynamicToolCallResponse: "dynamic_tool_call_response" => DynamicToolCallResponse,
    /// The provider began a web search.
    WebSearchBegin: "web_search_begin" => WebSearchBegin,
    /// The provider ended a web search.
    WebSearchEnd: "web_search_end" => WebSearchEnd,
    /// The model looked at an image.
    ViewImageToolCall: "view_image_tool_call" => ViewImageToolCall,
    /// The provider drew an image.
    ImageGenerationEnd: "image_generation_end" => ImageGenerationEnd,
    /// An agent was spawned, or not.
    CollabAgentSpawnEnd: "collab_agent_spawn_end" => CollabSpawnEnd,
    /// An agent was sent input.
    CollabAgentInteractionEnd: "collab_agent_interaction_end" => CollabInteractionEnd,
    /// The wait for agents ended.
    CollabWaitingEnd: "collab_waiting_end" => CollabWaitingEnd,
    /// An agent was closed.
    CollabCloseEnd: "collab_close_end" => CollabCloseEnd,
    /// A closed agent was opened again.
    CollabResumeEnd: "collab_resume_end" => CollabResumeEnd,
}
