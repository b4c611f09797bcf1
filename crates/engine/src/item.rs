//! What all kinds of items have in common: an id, and an end when their work is given up.

use std::mem::discriminant;

use quipu_wire::{
    CollabAgentToolCallStatus, CommandExecutionStatus, DynamicToolCallStatus, McpToolCallStatus,
    PatchApplyStatus, ThreadItem,
};

/// Whether two items are of one kind.
pub fn same_kind(one: &ThreadItem, other: &ThreadItem) -> bool {
    discriminant(one) == discriminant(other)
}

/// Whether an item shows a process, which may outlive its call and its turn.
pub fn is_process(item: &ThreadItem) -> bool {
    matches!(
        item,
        ThreadItem::CommandExecution {
            process_id: Some(_),
            ..
        }
    )
}

/// Expands to a match over every kind of item that has an id.
macro_rules! with_id {
    ($item:expr, $id:ident => $found:expr, $none:expr) => {
        match $item {
            ThreadItem::UserMessage { id: $id, .. }
            | ThreadItem::HookPrompt { id: $id, .. }
            | ThreadItem::AgentMessage { id: $id, .. }
            | ThreadItem::Plan { id: $id, .. }
            | ThreadItem::Reasoning { id: $id, .. }
            | ThreadItem::CommandExecution { id: $id, .. }
            | ThreadItem::FileChange { id: $id, .. }
            | ThreadItem::McpToolCall { id: $id, .. }
            | ThreadItem::DynamicToolCall { id: $id, .. }
            | ThreadItem::CollabAgentToolCall { id: $id, .. }
            | ThreadItem::WebSearch { id: $id, .. }
            | ThreadItem::ImageView { id: $id, .. }
            | ThreadItem::ImageGeneration { id: $id, .. }
            | ThreadItem::EnteredReviewMode { id: $id, .. }
            | ThreadItem::ExitedReviewMode { id: $id, .. }
            | ThreadItem::ContextCompaction { id: $id, .. } => $found,
            ThreadItem::Unrecognized(_) => $none,
        }
    };
}

/// The id of an item.
pub fn id(item: &ThreadItem) -> &str {
    with_id!(item, id => id, "")
}

/// The id of an item, to change it.
pub fn id_mut(item: &mut ThreadItem) -> Option<&mut String> {
    with_id!(item, id => Some(id), None)
}

/// Whether an item is stored as one that has begun and not ended.
pub fn is_open(item: &ThreadItem) -> bool {
    match item {
        ThreadItem::CommandExecution { status, .. } => {
            *status == CommandExecutionStatus::InProgress
        }
        ThreadItem::FileChange { status, .. } => *status == PatchApplyStatus::InProgress,
        ThreadItem::McpToolCall { status, .. } => *status == McpToolCallStatus::InProgress,
        ThreadItem::DynamicToolCall { status, .. } => *status == DynamicToolCallStatus::InProgress,
        ThreadItem::CollabAgentToolCall { status, .. } => {
            *status == CollabAgentToolCallStatus::InProgress
        }
        _ => false,
    }
}

/// The final state of an item whose work was given up.
pub fn abandoned(mut item: ThreadItem) -> ThreadItem {
    match &mut item {
        ThreadItem::CommandExecution {
            status,
            exit_code,
            duration_ms,
            ..
        } => {
            *status = CommandExecutionStatus::Failed;
            // The log has no form for a command without an exit code, and clients must see now what they read later.
            exit_code.get_or_insert(-1);
            duration_ms.get_or_insert(0);
        }
        ThreadItem::FileChange { status, .. } => *status = PatchApplyStatus::Failed,
        ThreadItem::McpToolCall { status, .. } => *status = McpToolCallStatus::Failed,
        ThreadItem::DynamicToolCall {
            status, success, ..
        } => {
            *status = DynamicToolCallStatus::Failed;
            *success = Some(false);
        }
        ThreadItem::CollabAgentToolCall { status, .. } => {
            *status = CollabAgentToolCallStatus::Failed;
        }
        _ => {}
    }
    item
}
