//! What the model's stream does to the turn.

use quipu_wire::{
    AccountRateLimitsUpdatedNotification, AgentMessageDeltaNotification, ErrorNotification,
    ModelRerouteReason, ModelReroutedNotification, PlanDeltaNotification,
    ReasoningSummaryPartAddedNotification, ReasoningSummaryTextDeltaNotification,
    ReasoningTextDeltaNotification, ServerNotification, ThreadItem,
    ThreadTokenUsageUpdatedNotification, TokenUsageBreakdown, TurnDiffUpdatedNotification,
    TurnError, WebSearchAction,
};

use crate::effect::{Effect, Purpose, Record};
use crate::input::{ModelEvent, ModelItem, OutputItem, ToolCall};
use crate::items;
use crate::thread::Thread;
use crate::turn::{Call, Stopping, TurnKind};

impl Thread {
    pub(crate) fn model(&mut self, sample: u64, event: ModelEvent) {
        let current = self.active.as_ref().and_then(|turn| turn.sampling.as_ref());
        if current.is_none_or(|sampling| sampling.sample != sample) {
            return;
        }
        if current.is_some_and(|sampling| sampling.summary.is_some()) {
            return self.summary_event(event);
        }
        match event {
            ModelEvent::Opened => self.tell_usage(true),
            ModelEvent::RateLimits(limits) => self.usage.rate_limits = *limits,
            ModelEvent::Rerouted { from, to } => self.rerouted(from, to),
            ModelEvent::ItemStarted { slot, item } => self.item_started(slot, *item),
            ModelEvent::TextDelta { slot, delta } => self.text_delta(slot, delta),
            ModelEvent::PlanDelta { delta } => self.plan_delta(delta),
            ModelEvent::PlanDone { text } => self.plan_done(text),
            ModelEvent::ReasoningPartAdded { slot, index } => self.reasoning_part(slot, index),
            ModelEvent::ReasoningSummaryDelta { slot, index, delta } => {
                self.reasoning_summary(slot, index, delta);
            }
            ModelEvent::ReasoningTextDelta { slot, index, delta } => {
                self.reasoning_text(slot, index, delta)
            }
            ModelEvent::ItemDone { slot, item } => self.item_done(slot, *item),
            ModelEvent::Retrying { error } => {
                self.close_streamed();
                self.tell_error(error, true);
            }
            ModelEvent::Completed { usage } => self.response_completed(usage),
            ModelEvent::Failed {
                error,
                window_exceeded,
            } => self.model_failed(error, window_exceeded),
        }
    }

    fn rerouted(&mut self, from_model: String, to_model: String) {
        let Some(turn) = self.active.as_mut().filter(|turn| !turn.rerouted) else {
            return;
        };
        turn.rerouted = true;
        let (thread_id, turn_id) = self.ids();
        self.notify(ServerNotification::ModelRerouted(
            ModelReroutedNotification {
                thread_id,
                turn_id,
                from_model,
                to_model,
                reason: ModelRerouteReason::HighRiskCyberActivity,
            },
        ));
    }

    fn item_started(&mut self, slot: u32, output: OutputItem) {
        let item = match output.item {
            ModelItem::Message {
                text: Some(text),
                phase,
            } => ThreadItem::AgentMessage {
                id: output.id,
                text,
                phase,
                memory_citation: None,
            },
            ModelItem::Reasoning { .. } => ThreadItem::Reasoning {
                id: output.id,
                summary: Vec::new(),
                content: Vec::new(),
            },
            ModelItem::WebSearch { .. } => ThreadItem::WebSearch {
                id: output.id,
                query: String::new(),
                action: Some(WebSearchAction::Other),
            },
            ModelItem::ImageGeneration {
                status,
                revised_prompt,
                result,
                saved_path,
            } => ThreadItem::ImageGeneration {
                id: output.id,
                status,
                revised_prompt,
                result,
                saved_path,
            },
            _ => return,
        };
        self.open_item(item, Some(slot));
    }

    /// Opens and tells an item, unless one of that id is open.
    pub(crate) fn open_item(&mut self, item: ThreadItem, slot: Option<u32>) {
        let Some(turn) = &mut self.active else { return };
        if !turn.items.open(&item) {
            return;
        }
        if let Some(slot) = slot {
            turn.items.bind(slot, items::id(&item));
        }
        // The raw words of a reviewer are not for the user.
        if !(turn.kind == TurnKind::Review && matches!(item, ThreadItem::AgentMessage { .. })) {
            self.show_started(item);
        }
    }

    fn text_delta(&mut self, slot: u32, delta: String) {
        let Some(turn) = &mut self.active else { return };
        let Some(item_id) = turn.items.slot(slot).map(str::to_owned) else {
            return;
        };
        let Some(ThreadItem::AgentMessage { text, .. }) = turn.items.get_mut(&item_id) else {
            return;
        };
        text.push_str(&delta);
        if turn.kind == TurnKind::Review {
            return;
        }
        let (thread_id, turn_id) = self.ids();
        self.notify(ServerNotification::ItemAgentMessageDelta(
            AgentMessageDeltaNotification {
                thread_id,
                turn_id,
                item_id,
                delta,
            },
        ));
    }

    fn plan_delta(&mut self, delta: String) {
        let (thread_id, turn_id) = self.ids();
        let item_id = format!("{turn_id}-plan");
        self.open_item(
            ThreadItem::Plan {
                id: item_id.clone(),
                text: String::new(),
            },
            None,
        );
        if let Some(ThreadItem::Plan { text, .. }) = self
            .active
            .as_mut()
            .and_then(|turn| turn.items.get_mut(&item_id))
        {
            text.push_str(&delta);
        }
        if !delta.is_empty() {
            let params = PlanDeltaNotification {
                thread_id,
                turn_id,
                item_id,
                delta,
            };
            self.notify(ServerNotification::ItemPlanDelta(params));
        }
    }

    fn plan_done(&mut self, text: String) {
        let id = format!("{}-plan", self.active_turn().unwrap_or_default());
        self.finish_item(ThreadItem::Plan { id, text });
    }

    fn reasoning_part(&mut self, slot: u32, index: u32) {
        let Some(item_id) = self.reasoning_item(slot) else {
            return;
        };
        let (thread_id, turn_id) = self.ids();
        self.notify(ServerNotification::ItemReasoningSummaryPartAdded(
            ReasoningSummaryPartAddedNotification {
                thread_id,
                turn_id,
                item_id,
                summary_index: i64::from(index),
            },
        ));
    }

    fn reasoning_summary(&mut self, slot: u32, index: u32, delta: String) {
        let Some(item_id) = self.reasoning_item(slot) else {
            return;
        };
        if let Some(ThreadItem::Reasoning { summary, .. }) = self
            .active
            .as_mut()
            .and_then(|turn| turn.items.get_mut(&item_id))
        {
            append_part(summary, index, &delta);
        }
        let (thread_id, turn_id) = self.ids();
        self.notify(ServerNotification::ItemReasoningSummaryTextDelta(
            ReasoningSummaryTextDeltaNotification {
                thread_id,
                turn_id,
                item_id,
                delta,
                summary_index: i64::from(index),
            },
        ));
    }

    fn reasoning_text(&mut self, slot: u32, index: u32, delta: String) {
        let Some(item_id) = self.reasoning_item(slot) else {
            return;
        };
        if let Some(ThreadItem::Reasoning { content, .. }) = self
            .active
            .as_mut()
            .and_then(|turn| turn.items.get_mut(&item_id))
        {
            append_part(content, index, &delta);
        }
        let (thread_id, turn_id) = self.ids();
        self.notify(ServerNotification::ItemReasoningTextDelta(
            ReasoningTextDeltaNotification {
                thread_id,
                turn_id,
                item_id,
                delta,
                content_index: i64::from(index),
            },
        ));
    }

    fn reasoning_item(&self, slot: u32) -> Option<String> {
        self.active.as_ref()?.items.slot(slot).map(str::to_owned)
    }

    fn item_done(&mut self, slot: u32, output: OutputItem) {
        let open = self
            .active
            .as_ref()
            .and_then(|turn| turn.items.slot(slot).map(str::to_owned));
        let id = open.unwrap_or(output.id);
        match output.item {
            ModelItem::Message { text, phase } => {
                self.message_done(id, text, phase);
                self.remember(output.raw);
            }
            ModelItem::Reasoning { summary, content } => {
                self.finish_item(ThreadItem::Reasoning {
                    id,
                    summary,
                    content,
                });
                self.remember(output.raw);
            }
            ModelItem::WebSearch { query, action } => {
                self.remember(output.raw);
                self.finish_item(ThreadItem::WebSearch { id, query, action });
            }
            ModelItem::ImageGeneration {
                status,
                revised_prompt,
                result,
                saved_path,
            } => {
                self.remember(output.raw);
                self.finish_item(ThreadItem::ImageGeneration {
                    id,
                    status,
                    revised_prompt,
                    result,
                    saved_path,
                });
            }
            ModelItem::Call(call) => {
                self.remember(output.raw);
                self.run_tool(call);
            }
            ModelItem::Other => self.remember(output.raw),
        }
    }

    fn message_done(
        &mut self,
        id: String,
        text: Option<String>,
        phase: Option<quipu_wire::MessagePhase>,
    ) {
        let Some(turn) = &mut self.active else { return };
        let Some(text) = text else {
            // A message that shows nothing may have been started with a seed of text; it ends empty.
            return self.close_streamed();
        };
        if !text.trim().is_empty() {
            turn.last_agent_message = Some(text.clone());
        }
        if let (TurnKind::Review, Some(review)) = (turn.kind, &mut turn.review) {
            review.words = Some(text);
            turn.items.close(&id);
            return;
        }
        self.finish_item(ThreadItem::AgentMessage {
            id,
            text,
            phase,
            memory_citation: None,
        });
    }

    /// Records and tells the end of an item, and its start if it had none.
    pub(crate) fn finish_item(&mut self, item: ThreadItem) {
        let Some(turn) = &mut self.active else { return };
        if !turn.items.close(items::id(&item)) {
            self.show_started(item.clone());
        }
        self.record_item(&item);
        self.show_completed(item);
    }

    pub(crate) fn record_item(&mut self, item: &ThreadItem) {
        let (_, turn_id) = self.ids();
        let record = match item.clone() {
            ThreadItem::AgentMessage {
                id, text, phase, ..
            } => Record::AgentMessage {
                item_id: id,
                text,
                phase,
            },
            ThreadItem::Reasoning {
                id,
                summary,
                content,
            } => Record::Reasoning {
                item_id: id,
                summary,
                content,
            },
            item => Record::Item { turn_id, item },
        };
        self.record(record);
    }

    fn run_tool(&mut self, call: ToolCall) {
        let Some(turn) = &mut self.active else { return };
        if turn.stopping != Stopping::No {
            return;
        }
        turn.calls.push(Call {
            call_id: call.call_id.clone(),
            output: None,
        });
        let turn_id = turn.id.clone();
        self.emit(Effect::RunTool { turn_id, call });
    }

    fn response_completed(&mut self, usage: Option<TokenUsageBreakdown>) {
        self.count(usage);
        let Some(turn) = &mut self.active else { return };
        turn.sampling = None;
        self.close_streamed();
        self.tell_diff();
        self.proceed();
    }

    /// Notes and tells what a response used.
    pub(crate) fn count(&mut self, usage: Option<TokenUsageBreakdown>) {
        let is_review = self
            .active
            .as_ref()
            .is_some_and(|turn| turn.kind == TurnKind::Review);
        if is_review {
            return;
        }
        if let Some(usage) = usage {
            self.history.counted(usage.total_tokens);
            self.usage.add(usage, self.window);
        }
        self.record_usage();
        self.tell_usage(true);
    }

    pub(crate) fn record_usage(&mut self) {
        let usage = self.usage.tokens().cloned();
        let rate_limits = self.usage.rate_limits.clone();
        self.record(Record::TokenUsage { usage, rate_limits });
    }

    /// Tells the tokens used, if any are known, and the rate limits.
    pub(crate) fn tell_usage(&mut self, with_limits: bool) {
        let Some(turn) = self
            .active
            .as_ref()
            .filter(|turn| turn.kind != TurnKind::Review)
        else {
            return;
        };
        let turn_id = turn.id.clone();
        if let Some(token_usage) = self.usage.tokens().cloned() {
            let thread_id = self.id.clone();
            let params = ThreadTokenUsageUpdatedNotification {
                thread_id,
                turn_id,
                token_usage,
            };
            self.notify(ServerNotification::ThreadTokenUsageUpdated(params));
        }
        if with_limits {
            let rate_limits = self.usage.rate_limits.clone();
            let params = AccountRateLimitsUpdatedNotification { rate_limits };
            self.notify(ServerNotification::AccountRateLimitsUpdated(params));
        }
    }

    pub(crate) fn tell_diff(&mut self) {
        let Some(diff) = self.active.as_ref().and_then(|turn| turn.diff.clone()) else {
            return;
        };
        let (thread_id, turn_id) = self.ids();
        let params = TurnDiffUpdatedNotification {
            thread_id,
            turn_id,
            diff,
        };
        self.notify(ServerNotification::TurnDiffUpdated(params));
    }

    pub(crate) fn tell_error(&mut self, error: TurnError, will_retry: bool) {
        let (thread_id, turn_id) = self.ids();
        let params = ErrorNotification {
            error,
            will_retry,
            thread_id,
            turn_id,
        };
        self.notify(ServerNotification::Error(params));
    }

    fn model_failed(&mut self, error: TurnError, window_exceeded: bool) {
        if let (true, Some(window)) = (window_exceeded, self.window) {
            self.usage.fill(window);
            self.history.counted(window);
            self.record_usage();
            self.tell_usage(true);
        }
        if let Some(turn) = &mut self.active {
            turn.sampling = None;
        }
        self.close_streamed();
        self.fail(error);
        self.proceed();
    }

    /// Ends the items the model was still writing with what they have.
    pub(crate) fn close_streamed(&mut self) {
        let Some(turn) = &mut self.active else { return };
        let hidden = turn.kind == TurnKind::Review;
        for item in turn.items.take_streamed() {
            if hidden && matches!(item, ThreadItem::AgentMessage { .. }) {
                continue;
            }
            self.record_item(&item);
            self.show_completed(item);
        }
    }

    /// Goes on when nothing of the turn is under way: the next request to the model, or the end.
    pub(crate) fn proceed(&mut self) {
        let Some(turn) = &self.active else { return };
        if turn.is_busy() {
            return;
        }
        if turn.stopping != Stopping::No {
            return self.finish_stopped();
        }
        let called = !turn.calls.is_empty();
        self.take_outputs();
        let Some(turn) = &self.active else { return };
        if let Some(error) = turn.error.clone() {
            self.take_pending();
            return self.finish(crate::TurnEnd::Failed(error));
        }
        let waiting = !turn.pending.is_empty() || !turn.notes.is_empty();
        match turn.kind {
            TurnKind::Regular if called || waiting => self.follow_up(),
            TurnKind::Review if called => self.sample(Purpose::Review),
            TurnKind::Review => self.render_review(false),
            TurnKind::Shell if !turn.pending.is_empty() => self.promote(),
            TurnKind::Regular | TurnKind::Compact | TurnKind::Shell => {
                self.take_pending();
                self.finish(crate::TurnEnd::Completed);
            }
        }
    }

    /// Input came while the user's own command ran: the turn goes on as an ordinary one.
    fn promote(&mut self) {
        if let Some(turn) = &mut self.active {
            turn.kind = TurnKind::Regular;
        }
        self.compact_or_continue();
    }

    fn follow_up(&mut self) {
        if self.is_too_long() {
            return self.begin_summary(true);
        }
        self.take_pending();
        self.sample(Purpose::Turn);
    }

    /// Gives the outputs of the tools to the model, in the order of the calls.
    pub(crate) fn take_outputs(&mut self) {
        let calls = self
            .active
            .as_mut()
            .map(|turn| std::mem::take(&mut turn.calls));
        for output in calls
            .unwrap_or_default()
            .into_iter()
            .filter_map(|call| call.output)
        {
            output.into_iter().for_each(|item| self.remember(item));
        }
    }
}

/// Adds to a part of a reasoning; a model that skips numbers leaves empty parts, within reason.
fn append_part(parts: &mut Vec<String>, index: u32, delta: &str) {
    const MAX_PARTS: usize = 4096;
    let index = usize::try_from(index).unwrap_or(usize::MAX).min(MAX_PARTS);
    if parts.len() <= index {
        parts.resize(index + 1, String::new());
    }
    parts[index].push_str(delta);
}
