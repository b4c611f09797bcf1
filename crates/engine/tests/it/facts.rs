//! What the parts of notifications and records mean to the checker.

use quipu_engine::{Record, item_id};
use quipu_wire::{ServerNotification, ThreadItem};

/// The item that a record keeps, as clients are to be told of it.
pub fn recorded_item(record: &Record, turn_id: &str) -> Option<ThreadItem> {
    Some(match record.clone() {
        Record::UserMessage {
            item_id: id,
            content,
        } => ThreadItem::UserMessage {
            id: id.into(),
            content,
        },
        Record::AgentMessage {
            item_id: id,
            text,
            phase,
        } => ThreadItem::AgentMessage {
            id: id.into(),
            text,
            phase,
            memory_citation: None,
        },
        Record::Reasoning {
            item_id: id,
            summary,
            content,
        } => ThreadItem::Reasoning {
            id: id.into(),
            summary,
            content,
        },
        Record::Item { item, .. } => item,
        Record::EnteredReview { label } => ThreadItem::EnteredReviewMode {
            id: turn_id.to_owned(),
            review: label,
        },
        Record::ExitedReview { text, .. } => ThreadItem::ExitedReviewMode {
            id: turn_id.to_owned(),
            review: text,
        },
        _ => return None,
    })
}

/// What tells an item from the others of its turn. The two ends of a review share the id of the turn, as
/// the reference has it.
pub fn item_key(item: &ThreadItem) -> String {
    match item {
        ThreadItem::ExitedReviewMode { id, .. } => format!("{id}/exited"),
        item => item_id(item).to_owned(),
    }
}

/// The turn and the item of a delta, and whether the item is of its kind.
pub type Delta<'a> = (&'a str, &'a str, fn(&ThreadItem) -> bool);

pub fn delta(notification: &ServerNotification) -> Option<Delta<'_>> {
    use ServerNotification as N;
    let is_message = |item: &ThreadItem| matches!(item, ThreadItem::AgentMessage { .. });
    let is_plan = |item: &ThreadItem| matches!(item, ThreadItem::Plan { .. });
    let is_reasoning = |item: &ThreadItem| matches!(item, ThreadItem::Reasoning { .. });
    let any = |_: &ThreadItem| true;
    Some(match notification {
        N::ItemAgentMessageDelta(it) => (&it.turn_id, &it.item_id, is_message),
        N::ItemPlanDelta(it) => (&it.turn_id, &it.item_id, is_plan),
        N::ItemReasoningSummaryPartAdded(it) => (&it.turn_id, &it.item_id, is_reasoning),
        N::ItemReasoningSummaryTextDelta(it) => (&it.turn_id, &it.item_id, is_reasoning),
        N::ItemReasoningTextDelta(it) => (&it.turn_id, &it.item_id, is_reasoning),
        N::ItemCommandExecutionOutputDelta(it) => (&it.turn_id, &it.item_id, any),
        N::ItemCommandExecutionTerminalInteraction(it) => (&it.turn_id, &it.item_id, any),
        N::ItemFileChangeOutputDelta(it) => (&it.turn_id, &it.item_id, any),
        N::ItemMcpToolCallProgress(it) => (&it.turn_id, &it.item_id, any),
        _ => return None,
    })
}

/// The turn that a notification is about, for those that only a running turn may cause.
pub fn running_turn(notification: &ServerNotification) -> Option<&str> {
    use ServerNotification as N;
    Some(match notification {
        N::RawResponseItemCompleted(it) => &it.turn_id,
        N::ThreadTokenUsageUpdated(it) => &it.turn_id,
        N::TurnDiffUpdated(it) => &it.turn_id,
        N::TurnPlanUpdated(it) => &it.turn_id,
        N::ModelRerouted(it) => &it.turn_id,
        N::ThreadCompacted(it) => &it.turn_id,
        N::Error(it) => &it.turn_id,
        _ => return None,
    })
}
