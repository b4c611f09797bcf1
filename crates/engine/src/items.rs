//! Items between their start and their end, and the ids they are known by.

use std::collections::BTreeMap;
use std::mem::discriminant;

use quipu_wire::{
    CollabAgentToolCallStatus, CommandExecutionStatus, DynamicToolCallStatus, McpToolCallStatus,
    PatchApplyStatus, ThreadItem,
};

/// Who writes an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writer {
    /// The model, in a slot of its stream.
    Slot(u32),
    /// The model, as the plan in its text.
    Plan,
    /// A tool, or the engine itself.
    Other,
}

/// The open items of a turn in the order they began, and every id the turn has used.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Items {
    open: Vec<(Writer, ThreadItem)>,
    ids: BTreeMap<String, Id>,
}

#[derive(Debug, Clone, PartialEq, Default)]
struct Id {
    /// How many more items wanted to be called so.
    repeats: u32,
    /// An item of this id was shown.
    shown: bool,
}

impl Items {
    /// An id that is new in this turn: the one asked for, or one made from it when a model repeats itself.
    pub fn claim(&mut self, wanted: &str) -> String {
        let mut id = wanted.to_owned();
        while self.ids.contains_key(&id) {
            let repeats = &mut self.ids.entry(wanted.to_owned()).or_default().repeats;
            *repeats += 1;
            id = format!("{wanted}-{}", *repeats + 1);
        }
        self.ids.insert(id.clone(), Id::default());
        id
    }

    /// Opens an item; `false` if one of its id was shown before.
    pub fn open(&mut self, item: &ThreadItem, writer: Writer) -> bool {
        let is_new = self.show(item);
        if is_new {
            self.open.push((writer, item.clone()));
        }
        is_new
    }

    /// Notes that an item is shown; `false` if one of its id was shown before.
    pub fn show(&mut self, item: &ThreadItem) -> bool {
        let known = self.ids.entry(id(item).to_owned()).or_default();
        !std::mem::replace(&mut known.shown, true)
    }

    /// Whether a tool's item of this id is open.
    pub fn has_tool_item(&self, wanted: &str) -> bool {
        let mut items = self
            .open
            .iter()
            .filter(|(writer, _)| *writer == Writer::Other);
        items.any(|(_, item)| id(item) == wanted)
    }

    /// Whether an item of this id was shown, open or not.
    pub fn was_shown(&self, id: &str) -> bool {
        self.ids.get(id).is_some_and(|id| id.shown)
    }

    /// Takes an open item.
    pub fn take(&mut self, wanted: &str) -> Option<ThreadItem> {
        let index = self.open.iter().position(|(_, item)| id(item) == wanted)?;
        Some(self.open.remove(index).1)
    }

    /// Takes the item of a tool that ended, unless its process lives on.
    pub fn take_ended(&mut self, wanted: &str) -> Option<ThreadItem> {
        let is_ended = |(_, item): &(Writer, ThreadItem)| id(item) == wanted && !is_process(item);
        let index = self.open.iter().position(is_ended)?;
        Some(self.open.remove(index).1)
    }

    /// The item that is being written there.
    pub fn written(&mut self, by: Writer) -> Option<&mut ThreadItem> {
        let found = self.open.iter_mut().find(|(writer, _)| *writer == by);
        found.map(|(_, item)| item)
    }

    /// Takes the item that was being written there.
    pub fn take_written(&mut self, by: Writer) -> Option<ThreadItem> {
        let index = self.open.iter().position(|(writer, _)| *writer == by)?;
        Some(self.open.remove(index).1)
    }

    /// Takes the items the model was still writing, as they stand.
    pub fn take_streamed(&mut self) -> Vec<ThreadItem> {
        let is_streamed = |(writer, _): &mut (Writer, ThreadItem)| *writer != Writer::Other;
        self.open
            .extract_if(.., is_streamed)
            .map(|(_, item)| item)
            .collect()
    }

    /// Takes all open items, as given up.
    pub fn take_all(&mut self) -> Vec<ThreadItem> {
        std::mem::take(&mut self.open)
            .into_iter()
            .map(|(_, item)| abandoned(item))
            .collect()
    }
}

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

/// The id of an item, to be changed.
pub fn id_mut(item: &mut ThreadItem) -> Option<&mut String> {
    with_id!(item, id => Some(id), None)
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
            // The log knows no command without an exit; what is told now must be what is read later.
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
