//! How items reach clients: their start, their growth and their end.

use quipu_wire_macros::wire;

use crate::{ResponseItem, ThreadItem};

/// Parameters of the notification `item/started`.
#[wire]
pub struct ItemStartedNotification {
    /// The item as it is now; its `id` is the `itemId` of all that follows.
    pub item: ThreadItem,
    pub thread_id: String,
    pub turn_id: String,
    /// In Unix milliseconds.
    #[wire(since = "0.166", hidden_default)]
    pub started_at_ms: i64,
}

/// Parameters of the notification `item/completed`.
#[wire]
pub struct ItemCompletedNotification {
    /// The item in full, which replaces what the deltas added up to.
    pub item: ThreadItem,
    pub thread_id: String,
    pub turn_id: String,
    /// In Unix milliseconds.
    #[wire(since = "0.166", hidden_default)]
    pub completed_at_ms: i64,
}

/// Parameters of the notification `rawResponseItem/completed`, sent on threads started with
/// `experimentalRawEvents`.
#[wire]
pub struct RawResponseItemCompletedNotification {
    pub thread_id: String,
    pub turn_id: String,
    /// An item that was added to the model's history.
    pub item: ResponseItem,
}

/// Parameters of the notification `item/agentMessage/delta`.
#[wire]
pub struct AgentMessageDeltaNotification {
    pub thread_id: String,
    pub turn_id: String,
    pub item_id: String,
    /// Text to append.
    pub delta: String,
}

/// Parameters of the notification `item/plan/delta`.
#[wire]
pub struct PlanDeltaNotification {
    pub thread_id: String,
    pub turn_id: String,
    pub item_id: String,
    /// Text to append; the finished plan may differ from the sum.
    pub delta: String,
}

/// Parameters of the notification `item/commandExecution/outputDelta`.
#[wire]
pub struct CommandExecutionOutputDeltaNotification {
    pub thread_id: String,
    pub turn_id: String,
    pub item_id: String,
    /// Output to append, of either stream; bytes that are not UTF-8 are replaced.
    pub delta: String,
}

/// Parameters of the notification `item/commandExecution/terminalInteraction`.
#[wire]
pub struct TerminalInteractionNotification {
    pub thread_id: String,
    pub turn_id: String,
    /// The item that started the process.
    pub item_id: String,
    pub process_id: String,
    /// What the model wrote; empty if it only looked for new output.
    pub stdin: String,
}

/// Parameters of the notification `item/fileChange/outputDelta`.
#[wire]
pub struct FileChangeOutputDeltaNotification {
    pub thread_id: String,
    pub turn_id: String,
    pub item_id: String,
    /// What the model is told about the patch.
    pub delta: String,
}

/// Parameters of the notification `item/mcpToolCall/progress`, which servers do not send yet.
#[wire]
pub struct McpToolCallProgressNotification {
    pub thread_id: String,
    pub turn_id: String,
    pub item_id: String,
    pub message: String,
}

/// Parameters of the notification `item/reasoning/summaryTextDelta`.
#[wire]
pub struct ReasoningSummaryTextDeltaNotification {
    pub thread_id: String,
    pub turn_id: String,
    pub item_id: String,
    /// Text to append.
    pub delta: String,
    /// The part of `summary`, counted from 0.
    pub summary_index: i64,
}

/// Parameters of the notification `item/reasoning/summaryPartAdded`.
#[wire]
pub struct ReasoningSummaryPartAddedNotification {
    pub thread_id: String,
    pub turn_id: String,
    pub item_id: String,
    /// The part of `summary` that begins, counted from 0.
    pub summary_index: i64,
}

/// Parameters of the notification `item/reasoning/textDelta`.
#[wire]
pub struct ReasoningTextDeltaNotification {
    pub thread_id: String,
    pub turn_id: String,
    pub item_id: String,
    /// Text to append.
    pub delta: String,
    /// The part of `content`, counted from 0.
    pub content_index: i64,
}

/// Parameters of the notification `thread/compacted`; deprecated, the `contextCompaction` item says
/// the same.
#[wire]
pub struct ContextCompactedNotification {
    pub thread_id: String,
    pub turn_id: String,
}
