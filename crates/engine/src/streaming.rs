//! The items that the model streams. A model may lie: start nothing, end twice, repeat ids, mix up its
//! slots. Clients see each item start once, change, and end once all the same.

use quipu_wire::{
    AgentMessageDeltaNotification, Json, MessagePhase, PlanDeltaNotification,
    ReasoningSummaryPartAddedNotification, ReasoningSummaryTextDeltaNotification,
    ReasoningTextDeltaNotification, ServerNotification, ThreadItem, WebSearchAction,
};

use crate::bounds::MAX_WRITTEN;
use crate::effect::Effect;
use crate::fit::{cut, fit};
use crate::input::{ModelItem, OutputItem, ToolCall};
use crate::items::{self, Writer};
use crate::thread::Thread;
use crate::turn::Call;

/// Parts that a reasoning may have; what a model writes beyond is seen when the item is done.
const MAX_PARTS: usize = 1024;

impl Thread {
    pub(crate) fn item_started(&mut self, slot: u32, output: OutputItem) {
        if !self.may_finish(&output) {
            return;
        }
        let Some(turn) = &mut self.active else { return };
        let id = output.id;
        let mut item = match output.item {
            // The raw words of a reviewer are not for the user.
            ModelItem::Message { .. } if turn.review.is_some() => return,
            ModelItem::Message {
                text: Some(text),
                phase,
            } => ThreadItem::AgentMessage {
                id,
                text,
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
            ModelItem::ImageGeneration {
                status,
                revised_prompt,
                result,
                saved_path,
            } => ThreadItem::ImageGeneration {
                id,
                status,
                revised_prompt,
                result,
                saved_path,
            },
            ModelItem::Message { text: None, .. } | ModelItem::Call(_) | ModelItem::Other => {
                return;
            }
        };
        self.close_written(Writer::Slot(slot));
        self.claim(&mut item);
        self.open_item(item, Writer::Slot(slot));
    }

    pub(crate) fn text_delta(&mut self, slot: u32, mut delta: String) {
        let written = self.fit_delta(Writer::Slot(slot), &mut delta);
        let Some(ThreadItem::AgentMessage { id, text, .. }) = self.written(Writer::Slot(slot))
        else {
            return;
        };
        text.push_str(&delta);
        let item_id = id.clone();
        let (thread_id, turn_id) = self.ids();
        let params = AgentMessageDeltaNotification {
            thread_id,
            turn_id,
            item_id,
            delta,
        };
        self.notify(ServerNotification::ItemAgentMessageDelta(params));
        self.may_write(written);
    }

    pub(crate) fn plan_delta(&mut self, mut delta: String) {
        let written = self.fit_delta(Writer::Plan, &mut delta);
        if self.written(Writer::Plan).is_none() {
            let mut plan = self.plan(String::new());
            self.claim(&mut plan);
            self.open_item(plan, Writer::Plan);
        }
        let Some(ThreadItem::Plan { id, text }) = self.written(Writer::Plan) else {
            return;
        };
        text.push_str(&delta);
        let item_id = id.clone();
        let (thread_id, turn_id) = self.ids();
        if !delta.is_empty() {
            let params = PlanDeltaNotification {
                thread_id,
                turn_id,
                item_id,
                delta,
            };
            self.notify(ServerNotification::ItemPlanDelta(params));
        }
        self.may_write(written);
    }

    pub(crate) fn plan_done(&mut self, text: String) {
        if !self.may_write(text.len()) {
            return;
        }
        let plan = self.plan(text);
        self.finish_written(Writer::Plan, plan);
    }

    fn plan(&self, text: String) -> ThreadItem {
        let id = format!("{}-plan", self.active_turn().unwrap_or_default());
        ThreadItem::Plan { id, text }
    }

    pub(crate) fn reasoning_part(&mut self, slot: u32, index: u32) {
        let Some(ThreadItem::Reasoning { id, .. }) = self.written(Writer::Slot(slot)) else {
            return;
        };
        let item_id = id.clone();
        let (thread_id, turn_id) = self.ids();
        let summary_index = i64::from(index);
        let params = ReasoningSummaryPartAddedNotification {
            thread_id,
            turn_id,
            item_id,
            summary_index,
        };
        self.notify(ServerNotification::ItemReasoningSummaryPartAdded(params));
    }

    pub(crate) fn reasoning_summary(&mut self, slot: u32, index: u32, mut delta: String) {
        let written = self.fit_delta(Writer::Slot(slot), &mut delta);
        let Some(ThreadItem::Reasoning { id, summary, .. }) = self.written(Writer::Slot(slot))
        else {
            return;
        };
        append_part(summary, index, &delta);
        let item_id = id.clone();
        let (thread_id, turn_id) = self.ids();
        let summary_index = i64::from(index);
        let params = ReasoningSummaryTextDeltaNotification {
            thread_id,
            turn_id,
            item_id,
            delta,
            summary_index,
        };
        self.notify(ServerNotification::ItemReasoningSummaryTextDelta(params));
        self.may_write(written);
    }

    pub(crate) fn reasoning_text(&mut self, slot: u32, index: u32, mut delta: String) {
        let written = self.fit_delta(Writer::Slot(slot), &mut delta);
        let Some(ThreadItem::Reasoning { id, content, .. }) = self.written(Writer::Slot(slot))
        else {
            return;
        };
        append_part(content, index, &delta);
        let item_id = id.clone();
        let (thread_id, turn_id) = self.ids();
        let content_index = i64::from(index);
        let params = ReasoningTextDeltaNotification {
            thread_id,
            turn_id,
            item_id,
            delta,
            content_index,
        };
        self.notify(ServerNotification::ItemReasoningTextDelta(params));
        self.may_write(written);
    }

    pub(crate) fn item_done(&mut self, slot: u32, output: OutputItem) {
        if !self.may_finish(&output) {
            return;
        }
        let OutputItem { id, item, raw } = output;
        let writer = Writer::Slot(slot);
        match item {
            ModelItem::Message { text, phase } => {
                self.message_done(writer, id, text, phase);
                self.remember(raw);
            }
            ModelItem::Reasoning { summary, content } => {
                self.finish_written(
                    writer,
                    ThreadItem::Reasoning {
                        id,
                        summary,
                        content,
                    },
                );
                self.remember(raw);
            }
            ModelItem::WebSearch { query, action } => {
                self.remember(raw);
                self.finish_written(writer, ThreadItem::WebSearch { id, query, action });
            }
            ModelItem::ImageGeneration {
                status,
                revised_prompt,
                result,
                saved_path,
            } => {
                self.remember(raw);
                let item = ThreadItem::ImageGeneration {
                    id,
                    status,
                    revised_prompt,
                    result,
                    saved_path,
                };
                self.finish_written(writer, item);
            }
            ModelItem::Call(call) => self.run_tool(call, raw),
            ModelItem::Other => self.remember(raw),
        }
    }

    fn message_done(
        &mut self,
        writer: Writer,
        id: String,
        text: Option<String>,
        phase: Option<MessagePhase>,
    ) {
        let Some(turn) = &mut self.active else { return };
        if let Some(review) = &mut turn.review {
            review.words = text.or(review.words.take());
            return;
        }
        let Some(text) = text else {
            // A message that shows nothing may have been started with a seed of text.
            return self.close_written(writer);
        };
        if !text.trim().is_empty() {
            turn.last_agent_message = Some(text.clone());
        }
        let item = ThreadItem::AgentMessage {
            id,
            text,
            phase,
            memory_citation: None,
        };
        self.finish_written(writer, item);
    }

    fn run_tool(&mut self, mut call: ToolCall, raw: Json) {
        if !self.may_call() {
            return;
        }
        let Some(turn) = &mut self.active else { return };
        let call_id = turn.items.claim(&call.call_id);
        let turn_id = turn.id.clone();
        turn.calls.push(Call {
            call_id: call_id.clone(),
            output: None,
        });
        self.remember(if call_id == call.call_id {
            raw
        } else {
            with_call_id(&raw, &call_id)
        });
        call.call_id = call_id;
        self.emit(Effect::RunTool { turn_id, call });
    }

    /// Cuts what the model adds to the item there to what the item has room for. Gives the length that the item
    /// would have had.
    fn fit_delta(&mut self, writer: Writer, delta: &mut String) -> usize {
        let before = match self.written(writer) {
            Some(ThreadItem::AgentMessage { text, .. } | ThreadItem::Plan { text, .. }) => {
                text.len()
            }
            Some(ThreadItem::Reasoning {
                summary, content, ..
            }) => summary.iter().chain(&*content).map(String::len).sum(),
            _ => 0,
        };
        let written = before + delta.len();
        cut(delta, MAX_WRITTEN.saturating_sub(before));
        written
    }

    fn written(&mut self, writer: Writer) -> Option<&mut ThreadItem> {
        self.active.as_mut()?.items.written(writer)
    }

    /// Gives an item an id that no other of the turn has.
    fn claim(&mut self, item: &mut ThreadItem) {
        if let (Some(turn), Some(id)) = (&mut self.active, items::id_mut(item)) {
            *id = turn.items.claim(id);
        }
    }

    /// Opens and tells an item, unless one of that id was shown.
    pub(crate) fn open_item(&mut self, item: ThreadItem, writer: Writer) {
        if self
            .active
            .as_mut()
            .is_some_and(|turn| turn.items.open(&item, writer))
        {
            self.show_started(item);
        }
    }

    /// Ends the item that is being written there, or, if it is of another kind or there is none, one
    /// that had no start.
    fn finish_written(&mut self, writer: Writer, mut item: ThreadItem) {
        match self.written(writer) {
            Some(open) if items::same_kind(open, &item) => {
                if let Some(id) = items::id_mut(&mut item) {
                    items::id(open).clone_into(id);
                }
            }
            _ => {
                self.close_written(writer);
                self.claim(&mut item);
            }
        }
        self.finish_item(item);
    }

    /// Ends what is being written there with what it has.
    fn close_written(&mut self, writer: Writer) {
        let item = self
            .active
            .as_mut()
            .and_then(|turn| turn.items.take_written(writer));
        if let Some(item) = item {
            self.complete(item);
        }
    }

    /// Ends the items the model was still writing with what they have.
    pub(crate) fn close_streamed(&mut self) {
        let Some(turn) = &mut self.active else { return };
        for item in turn.items.take_streamed() {
            self.complete(item);
        }
    }

    /// Records and tells the end of an item, and its start if it had none.
    pub(crate) fn finish_item(&mut self, item: ThreadItem) {
        let Some(turn) = &mut self.active else { return };
        if turn.items.take(items::id(&item)).is_none() {
            turn.items.show(&item);
            self.show_started(item.clone());
        }
        self.complete(item);
    }

    /// Records and tells the end of an item that was closed.
    pub(crate) fn complete(&mut self, mut item: ThreadItem) {
        fit(&mut item);
        let (_, turn_id) = self.ids();
        self.record_item(turn_id, item.clone());
        self.show_completed(item);
    }
}

/// Adds to a part of a reasoning; a model that skips numbers leaves empty parts, within reason.
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

/// A call of a model as the history must keep it when its id had to change: outputs name their call.
fn with_call_id(raw: &Json, call_id: &str) -> Json {
    let mut call = raw.to_value();
    match call.as_object_mut() {
        Some(members) => {
            members.insert("call_id".to_owned(), call_id.into());
            call.into()
        }
        None => raw.clone(),
    }
}
