//! MODDOC

use quipu_wire_macros::wire;

use crate::{ResponseItem, ThreadItem};

/// Parameters of the notification `item/started`.
#[wire]
pub struct ItemStartedNotification {
    pub item: ThreadItem,
    pub thread_id: String,
    pub turn_id: String,
}

/// Parameters of the notification `item/completed`.
#[wire]
pub struct ItemCompletedNotification {
    pub item: ThreadItem,
    pub thread_id: String,
    pub turn_id: String,
}

/// Parameters of the notification `rawResponseItem/completed`.
#[wire]
pub struct RawResponseItemCompletedNotification {
    pub thread_id: String,
    pub turn_id: String,
    pub item: ResponseItem,
}

/// Parameters of the notification `item/agentMessage/delta`.
#[wire]
pub struct AgentMessageDeltaNotification {
    pub thread_id: String,
    pub turn_id: String,
    pub item_id: String,
    pub delta: String,
}

/// Parameters of the notification `item/plan/delta`.
#[wire]
pub struct PlanDeltaNotification {
    pub thread_id: String,
    pub turn_id: String,
    pub item_id: String,
    pub delta: String,
}

/// Parameters of the notification `item/commandExecution/outputDelta`.
#[wire]
pub struct CommandExecutionOutputDeltaNotification {
    pub thread_id: String,
    pub turn_id: String,
    pub item_id: String,
    pub delta: String,
}

/// Parameters of the notification `item/commandExecution/terminalInteraction`.
#[wire]
pub struct TerminalInteractionNotification {
    pub thread_id: String,
    pub turn_id: String,
    pub item_id: String,
    pub process_id: String,
    pub stdin: String,
}

/// Parameters of the notification `item/fileChange/outputDelta`.
#[wire]
pub struct FileChangeOutputDeltaNotification {
    pub thread_id: String,
    pub turn_id: String,
    pub item_id: String,
    pub delta: String,
}

/// Parameters of the notification `item/mcpToolCall/progress`.
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
    pub delta: String,
    pub summary_index: i64,
}

/// Parameters of the notification `item/reasoning/summaryPartAdded`.
#[wire]
pub struct ReasoningSummaryPartAddedNotification {
    pub thread_id: String,
    pub turn_id: String,
    pub item_id: String,
    pub summary_index: i64,
}

/// Parameters of the notification `item/reasoning/textDelta`.
#[wire]
pub struct ReasoningTextDeltaNotification {
    pub thread_id: String,
    pub turn_id: String,
    pub item_id: String,
    pub delta: String,
    pub content_index: i64,
}

/// Parameters of the notification `thread/compacted`.
#[wire]
pub struct ContextCompactedNotification {
    pub thread_id: String,
    pub turn_id: String,
}
