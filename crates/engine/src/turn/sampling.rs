//! Asking the model, and what follows from its answer.

use quipu_wire::{Json, RateLimitSnapshot, TokenUsageBreakdown, TurnError};

use super::compaction::When;
use super::hooks::Intake;
use super::{Next, Progress, Turn, TurnKind, Work};
use crate::effect::{Effect, Purpose};
use crate::ids::{CallId, SampleId};
use crate::input::{ModelEvent, SchemaMismatch, ToolCall};
use crate::shared::Shared;

impl Turn {
    /// Asks the model with the history as it is.
    pub(super) fn sample(&mut self, purpose: Purpose, shared: &mut Shared) -> Progress {
        if shared.settings.hands_over && self.kind == TurnKind::Regular {
            return Ok(Next::Leave);
        }
        self.effort.count_request()?;
        let sample = shared.sequence.next_sample();
        self.work = Some(Work::Model { sample });
        shared.out.emit(Effect::Sample {
            sample,
            turn_id: self.id.clone(),
            purpose,
        });
        Ok(Next::Wait)
    }

    /// Takes an event of a request to the model.
    pub fn model(&mut self, sample: SampleId, event: ModelEvent, shared: &mut Shared) -> Progress {
        match &mut self.work {
            Some(Work::Model { sample: current }) if *current == sample => {
                self.response(event, shared)
            }
            Some(Work::Compaction(compaction)) if compaction.sample() == Some(sample) => {
                let collected = compaction.event(event, &self.id, shared);
                if collected.is_err() {
                    self.work = None;
                }
                collected.map(|()| Next::Wait)
            }
            // The request has ended or was cancelled.
            _ => Ok(Next::Wait),
        }
    }

    fn response(&mut self, event: ModelEvent, shared: &mut Shared) -> Progress {
        let is_review = self.transcript.is_review();
        let (items, mut out) = self.transcript.writing(shared);
        let out = &mut out;
        match event {
            ModelEvent::RateLimits(limits) => self.update_limits(*limits, shared),
            ModelEvent::Rerouted { from, to } => {
                if !std::mem::replace(&mut self.was_rerouted, true) {
                    out.rerouted(from, to);
                }
            }
            ModelEvent::ItemStarted { slot, item } => {
                items.stream_started(slot, *item, is_review, out)?;
            }
            ModelEvent::TextDelta { slot, delta } => items.text_delta(slot, delta, out)?,
            ModelEvent::PlanDelta { delta } => items.plan_delta(delta, out)?,
            ModelEvent::PlanDone { text } => items.plan_done(text, out)?,
            ModelEvent::ReasoningPartAdded { slot, index } => {
                items.reasoning_part_added(slot, index, out);
            }
            ModelEvent::ReasoningSummaryDelta { slot, index, delta } => {
                items.reasoning_summary_delta(slot, index, delta, out)?;
            }
            ModelEvent::ReasoningTextDelta { slot, index, delta } => {
                items.reasoning_text_delta(slot, index, delta, out)?;
            }
            ModelEvent::ItemDone { slot, item } => {
                if let Some((call, raw)) = self.transcript.item_done(slot, *item, shared)? {
                    self.call(call, raw, shared)?;
                }
            }
            ModelEvent::Retrying { error } => {
                items.close_streamed(out);
                if let Some(error) = error {
                    out.error(error, true);
                }
            }
            // Only a compaction asks for it.
            ModelEvent::Compacted { .. } => {}
            ModelEvent::Completed { usage, mismatch } => {
                return self.response_completed(usage, mismatch, shared);
            }
            ModelEvent::Failed {
                error,
                window_exceeded,
            } => return Err(self.response_failed(error, window_exceeded, shared)),
        }
        Ok(Next::Wait)
    }

    /// The provider says its limits as it begins to answer, or refuses to.
    fn update_limits(&mut self, limits: RateLimitSnapshot, shared: &mut Shared) {
        shared.usage.update_limits(limits);
        if self.kind.counts_usage() {
            shared.notify_usage(&self.id);
        }
    }

    /// The model calls a tool.
    fn call(
        &mut self,
        mut call: ToolCall,
        raw: Json,
        shared: &mut Shared,
    ) -> Result<(), TurnError> {
        self.effort.count_call()?;
        let call_id = CallId::from(self.transcript.items().claim(&call.call_id));
        self.tools.calls.add(call_id.clone());
        let raw = match call_id == call.call_id {
            true => raw,
            false => with_call_id(&raw, &call_id),
        };
        self.transcript.remember(raw, shared);
        call.call_id = call_id;
        let turn_id = self.id.clone();
        shared.out.emit(Effect::RunTool { turn_id, call });
        Ok(())
    }

    fn response_completed(
        &mut self,
        usage: Option<TokenUsageBreakdown>,
        mismatch: Option<Box<SchemaMismatch>>,
        shared: &mut Shared,
    ) -> Progress {
        self.close_streamed(shared);
        if self.kind.counts_usage() {
            shared.count_usage(usage, &self.id);
        }
        self.work = None;
        self.tools.set_diff_due();
        if let Some(mismatch) = mismatch {
            self.correct(*mismatch, shared)?;
        }
        Ok(Next::Proceed)
    }

    /// The final message has the wrong shape: the model may try once more, then it counts as it is or the turn fails.
    /// If the turn goes on anyway, it was not the final one.
    fn correct(&mut self, mismatch: SchemaMismatch, shared: &mut Shared) -> Result<(), TurnError> {
        if self.tools.calls.has_calls() || !self.pending.is_empty() {
            return Ok(());
        }
        if !std::mem::replace(&mut self.was_corrected, true) {
            self.pending.push_note(mismatch.note);
        } else if mismatch.is_fatal {
            return Err(mismatch.error);
        } else {
            shared.out.emit(Effect::Warn(mismatch.error.message));
        }
        Ok(())
    }

    fn response_failed(
        &mut self,
        error: TurnError,
        window_exceeded: bool,
        shared: &mut Shared,
    ) -> TurnError {
        self.close_streamed(shared);
        self.work = None;
        let window = shared.settings.window.filter(|_| window_exceeded);
        if let Some(window) = window.filter(|_| self.kind.counts_usage()) {
            shared.fill_window(window, &self.id);
        }
        error
    }

    /// Completes the items that the model was still writing, as they stand.
    fn close_streamed(&mut self, shared: &mut Shared) {
        let (items, mut out) = self.transcript.writing(shared);
        items.close_streamed(&mut out);
    }

    /// Goes on if the turn waits for nothing: with the next request to the model, or to the end.
    pub fn proceed(&mut self, shared: &mut Shared) -> Progress {
        if self.work.is_some() || self.tools.calls.is_running() {
            return Ok(Next::Wait);
        }
        let called = self.tools.calls.has_calls();
        if let Some(diff) = self.tools.take_due_diff() {
            shared.out.of_turn(&self.id).diff(diff);
        }
        self.take_outputs(shared);
        match self.kind {
            TurnKind::Regular if called || !self.pending.is_empty() => self.follow_up(shared),
            TurnKind::Review if called => self.sample(Purpose::Review, shared),
            TurnKind::Shell if self.tools.calls.has_shells() => Ok(Next::Wait),
            TurnKind::Shell if self.pending.has_message() => {
                // Input came while the user's own command ran: the turn goes on as an ordinary one.
                self.kind = TurnKind::Regular;
                self.compact_or_continue(shared)
            }
            TurnKind::Regular => self.response_final(shared),
            TurnKind::Review if self.transcript.is_review() => self.response_final(shared),
            TurnKind::Review | TurnKind::Compact | TurnKind::Shell => Ok(Next::Conclude),
        }
    }

    /// Asks the model again, with the pending input.
    pub(super) fn follow_up(&mut self, shared: &mut Shared) -> Progress {
        if shared.is_history_too_long() && self.kind == TurnKind::Regular {
            self.effort.count_compaction(shared.settings.compact_at)?;
            return self.compact(When::MidTurn, shared);
        }
        self.take_input(Intake::default(), shared)
    }

    /// Adds the outputs of the tools to the model's history, in the order of the calls.
    pub(super) fn take_outputs(&mut self, shared: &mut Shared) {
        let outputs = self.tools.calls.take_outputs();
        self.transcript.remember_all(outputs, shared);
    }
}

/// A call of a model as the history must keep it when its id had to change: outputs refer to their call by id.
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
