//! The items that the model streams. A model may contradict itself: start nothing, end twice, repeat ids, mix up
//! its slots. Clients see each item start once, change, and complete once all the same.

use quipu_wire::{
    AgentMessageDeltaNotification, PlanDeltaNotification, ReasoningSummaryPartAddedNotification,
    ReasoningSummaryTextDeltaNotification, ReasoningTextDeltaNotification, ServerNotification,
    ThreadItem, TurnError, WebSearchAction,
};

use super::bounds::{CUT, MAX_WRITTEN, check_output, check_written, fit_message};
use super::items::{Items, Writer};
use crate::fit::{cut_encoded, encoded_len};
use crate::ids::TurnId;
use crate::input::{ModelItem, OutputItem};
use crate::out::TurnOut;

/// Parts that a reasoning may have while it is streamed; later ones are seen when the item is done.
const MAX_PARTS: usize = 1024;

/// An error if the model has written more than an item may hold.
type Written = Result<(), TurnError>;

impl Items {
    /// The model starts an item. The messages of a reviewer are not shown.
    pub fn stream_started(
        &mut self,
        slot: u32,
        output: OutputItem,
        is_review: bool,
        out: &mut TurnOut<'_>,
    ) -> Written {
        check_output(&output)?;
        let is_hidden = is_review && matches!(output.item, ModelItem::Message { .. });
        if let Some(mut item) = started(output).filter(|_| !is_hidden) {
            self.close_written(Writer::Slot(slot), out);
            self.claim_for(&mut item);
            self.start(item, Writer::Slot(slot), out);
        }
        Ok(())
    }

    pub fn text_delta(&mut self, slot: u32, mut delta: String, out: &mut TurnOut<'_>) -> Written {
        let written = self.fit_delta(Writer::Slot(slot), &mut delta);
        let Some(ThreadItem::AgentMessage { id, text, .. }) = self.written(Writer::Slot(slot))
        else {
            return Ok(());
        };
        text.push_str(&delta);
        let item_id = id.clone();
        let (thread_id, turn_id) = out.ids();
        let params = AgentMessageDeltaNotification {
            thread_id,
            turn_id,
            item_id,
            delta,
        };
        out.notify(ServerNotification::ItemAgentMessageDelta(params));
        check_written(written)
    }

    pub fn plan_delta(&mut self, mut delta: String, out: &mut TurnOut<'_>) -> Written {
        if self.written(Writer::Plan).is_none() {
            let mut plan = plan(out.turn_id(), String::new());
            self.claim_for(&mut plan);
            self.start(plan, Writer::Plan, out);
        }
        let written = self.fit_delta(Writer::Plan, &mut delta);
        let Some(ThreadItem::Plan { id, text }) = self.written(Writer::Plan) else {
            return Ok(());
        };
        text.push_str(&delta);
        let item_id = id.clone();
        if !delta.is_empty() {
            let (thread_id, turn_id) = out.ids();
            let params = PlanDeltaNotification {
                thread_id,
                turn_id,
                item_id,
                delta,
            };
            out.notify(ServerNotification::ItemPlanDelta(params));
        }
        check_written(written)
    }

    pub fn plan_done(&mut self, text: String, out: &mut TurnOut<'_>) -> Written {
        let written = encoded_len(&text);
        let plan = plan(out.turn_id(), fit_message(text));
        self.finish_written(Writer::Plan, plan, out);
        check_written(written)
    }

    pub fn reasoning_part_added(&mut self, slot: u32, index: u32, out: &mut TurnOut<'_>) {
        if let Some(ThreadItem::Reasoning { id, .. }) = self.written(Writer::Slot(slot)) {
            let item_id = id.clone();
            let (thread_id, turn_id) = out.ids();
            let params = ReasoningSummaryPartAddedNotification {
                thread_id,
                turn_id,
                item_id,
                summary_index: i64::from(index),
            };
            out.notify(ServerNotification::ItemReasoningSummaryPartAdded(params));
        }
    }

    pub fn reasoning_summary_delta(
        &mut self,
        slot: u32,
        index: u32,
        mut delta: String,
        out: &mut TurnOut<'_>,
    ) -> Written {
        let written = self.fit_delta(Writer::Slot(slot), &mut delta);
        let Some(ThreadItem::Reasoning { id, summary, .. }) = self.written(Writer::Slot(slot))
        else {
            return Ok(());
        };
        append_part(summary, index, &delta);
        let item_id = id.clone();
        let (thread_id, turn_id) = out.ids();
        let params = ReasoningSummaryTextDeltaNotification {
            thread_id,
            turn_id,
            item_id,
            delta,
            summary_index: i64::from(index),
        };
        out.notify(ServerNotification::ItemReasoningSummaryTextDelta(params));
        check_written(written)
    }

    pub fn reasoning_text_delta(
        &mut self,
        slot: u32,
        index: u32,
        mut delta: String,
        out: &mut TurnOut<'_>,
    ) -> Written {
        let written = self.fit_delta(Writer::Slot(slot), &mut delta);
        let Some(ThreadItem::Reasoning { id, content, .. }) = self.written(Writer::Slot(slot))
        else {
            return Ok(());
        };
        append_part(content, index, &delta);
        let item_id = id.clone();
        let (thread_id, turn_id) = out.ids();
        let params = ReasoningTextDeltaNotification {
            thread_id,
            turn_id,
            item_id,
            delta,
            content_index: i64::from(index),
        };
        out.notify(ServerNotification::ItemReasoningTextDelta(params));
        check_written(written)
    }

    /// Cuts a delta to what the item that is being written there has room for, and says so in it. Returns the bytes
    /// that the item would have taken.
    fn fit_delta(&mut self, by: Writer, delta: &mut String) -> usize {
        let added = encoded_len(delta);
        let before = self.grow(by, added);
        if before + added > MAX_WRITTEN {
            cut_encoded(delta, MAX_WRITTEN.saturating_sub(before));
            // The turn fails now, so this is the end of the item. There is room for it beside the text.
            delta.push_str(CUT);
        }
        before + added
    }
}

/// What is shown of an item when it starts, if anything is.
fn started(output: OutputItem) -> Option<ThreadItem> {
    let id = output.id.into();
    Some(match output.item {
        ModelItem::Message { text, phase } => ThreadItem::AgentMessage {
            id,
            text: text?,
            phase,
            memory_citation: None,
        },
        ModelItem::Reasoning { .. } => ThreadItem::Reasoning {
            id,
            summary: Vec::new(),
            content: Vec::new(),
        },
        ModelItem::WebSearch { .. } => ThreadItem::WebSearch {
            id,
            query: String::new(),
            action: Some(WebSearchAction::Other),
        },
        ModelItem::ImageGeneration(image) => image.into_item(id),
        ModelItem::Call(_) | ModelItem::Other => return None,
    })
}

fn plan(turn_id: &TurnId, text: String) -> ThreadItem {
    let id = format!("{turn_id}-plan");
    ThreadItem::Plan { id, text }
}

/// Adds to a part of a reasoning. A model that skips numbers leaves empty parts, up to a limit.
fn append_part(parts: &mut Vec<String>, index: u32, delta: &str) {
    let index = usize::try_from(index).unwrap_or(usize::MAX);
    if index >= MAX_PARTS {
        return;
    }
    if parts.len() <= index {
        parts.resize(index + 1, String::new());
    }
    parts[index].push_str(delta);
}
