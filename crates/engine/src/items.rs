//! Items between their start and their end.

use std::collections::BTreeMap;

use quipu_wire::{
    CommandExecutionStatus, DynamicToolCallStatus, McpToolCallStatus, PatchApplyStatus, ThreadItem,
};

/// The open items of a turn, by the id clients know, and the slots of the model's stream.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Items {
    open: BTreeMap<String, ThreadItem>,
    slots: BTreeMap<u32, String>,
}

impl Items {
    /// Opens an item; `false` if it is open already.
    pub fn open(&mut self, item: &ThreadItem) -> bool {
        self.open
            .insert(id(item).to_owned(), item.clone())
            .is_none()
    }

    pub fn is_open(&self, id: &str) -> bool {
        self.open.contains_key(id)
    }

    /// Closes an item; `false` if it was not open.
    pub fn close(&mut self, id: &str) -> bool {
        self.slots.retain(|_, open| open != id);
        self.open.remove(id).is_some()
    }

    pub fn bind(&mut self, slot: u32, id: &str) {
        self.slots.insert(slot, id.to_owned());
    }

    pub fn slot(&self, slot: u32) -> Option<&str> {
        self.slots.get(&slot).map(String::as_str)
    }

    pub fn get_mut(&mut self, id: &str) -> Option<&mut ThreadItem> {
        self.open.get_mut(id)
    }

    /// Takes the items the model was still writing, as they stand.
    pub fn take_streamed(&mut self) -> Vec<ThreadItem> {
        let ids: Vec<String> = std::mem::take(&mut self.slots).into_values().collect();
        ids.iter().filter_map(|id| self.open.remove(id)).collect()
    }

    /// Takes all open items but those that outlive the turn.
    pub fn take_all(&mut self) -> Vec<ThreadItem> {
        self.slots.clear();
        std::mem::take(&mut self.open)
            .into_values()
            .map(abandoned)
            .collect()
    }
}

/// The id of an item.
pub fn id(item: &ThreadItem) -> &str {
    match item {
        ThreadItem::UserMessage { id, .. }
        | ThreadItem::HookPrompt { id, .. }
        | ThreadItem::AgentMessage { id, .. }
        | ThreadItem::Plan { id, .. }
        | ThreadItem::Reasoning { id, .. }
        | ThreadItem::CommandExecution { id, .. }
        | ThreadItem::FileChange { id, .. }
        | ThreadItem::McpToolCall { id, .. }
        | ThreadItem::DynamicToolCall { id, .. }
        | ThreadItem::CollabAgentToolCall { id, .. }
        | ThreadItem::WebSearch { id, .. }
        | ThreadItem::ImageView { id, .. }
        | ThreadItem::ImageGeneration { id, .. }
        | ThreadItem::EnteredReviewMode { id, .. }
        | ThreadItem::ExitedReviewMode { id, .. }
        | ThreadItem::ContextCompaction { id, .. } => id,
        ThreadItem::Unrecognized(_) => "",
    }
}

/// The final state of an item whose work was given up.
fn abandoned(mut item: ThreadItem) -> ThreadItem {
    match &mut item {
        ThreadItem::CommandExecution { status, .. } => *status = CommandExecutionStatus::Failed,
        ThreadItem::FileChange { status, .. } => *status = PatchApplyStatus::Failed,
        ThreadItem::McpToolCall { status, .. } => *status = McpToolCallStatus::Failed,
        ThreadItem::DynamicToolCall {
            status, success, ..
        } => {
            *status = DynamicToolCallStatus::Failed;
            *success = Some(false);
        }
        ThreadItem::CollabAgentToolCall { status, .. } => {
            *status = quipu_wire::CollabAgentToolCallStatus::Failed;
        }
        _ => {}
    }
    item
}
