//! Asking the model, and what follows from its answer as a whole.

use quipu_wire::{
    ModelRerouteReason, ModelReroutedNotification, RateLimitSnapshot, ServerNotification,
    TokenUsageBreakdown, TurnError,
};

use crate::effect::{Effect, Purpose};
use crate::hooks::Intake;
use crate::input::{Misshapen, ModelEvent};
use crate::thread::Thread;
use crate::turn::{ActiveTurn, Pending, TurnKind, Work};

impl Thread {
    /// Asks the model with the history as it is.
    pub(crate) fn sample(&mut self, purpose: Purpose) {
        if !self.may_ask() {
            return;
        }
        self.samples += 1;
        let sample = self.samples;
        let Some(turn) = &mut self.active else { return };
        turn.work = Some(Work::Model { sample });
        let turn_id = turn.id.clone();
        self.emit(Effect::Sample {
            sample,
            turn_id,
            purpose,
        });
    }

    /// Takes an event of the request under way; those of others are too late.
    pub(crate) fn model(&mut self, sample: u64, event: ModelEvent) {
        match self.active.as_ref().and_then(|turn| turn.work.as_ref()) {
            Some(Work::Model { sample: current }) if *current == sample => self.response(event),
            Some(Work::Summary {
                sample: current, ..
            }) if *current == sample => {
                self.summary_event(event);
            }
            _ => {}
        }
    }

    fn response(&mut self, event: ModelEvent) {
        match event {
            ModelEvent::RateLimits(limits) => self.limited(*limits),
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
                self.reasoning_text(slot, index, delta);
            }
            ModelEvent::ItemDone { slot, item } => self.item_done(slot, *item),
            ModelEvent::Retrying { error } => {
                self.close_streamed();
                self.tell_error(error, true);
            }
            ModelEvent::Completed { usage, misshapen } => self.response_completed(usage, misshapen),
            ModelEvent::Failed {
                error,
                window_exceeded,
            } => {
                self.model_failed(error, window_exceeded);
            }
        }
    }

    /// Limits are told whenever a provider says them: as it begins to answer, or refuses to.
    pub(crate) fn limited(&mut self, limits: RateLimitSnapshot) {
        self.usage.limit(limits);
        self.tell_usage();
    }

    fn rerouted(&mut self, from_model: String, to_model: String) {
        let Some(turn) = self.active.as_mut().filter(|turn| !turn.rerouted) else {
            return;
        };
        turn.rerouted = true;
        let (thread_id, turn_id) = self.ids();
        let reason = ModelRerouteReason::HighRiskCyberActivity;
        let params = ModelReroutedNotification {
            thread_id,
            turn_id,
            from_model,
            to_model,
            reason,
        };
        self.notify(ServerNotification::ModelRerouted(params));
    }

    fn response_completed(
        &mut self,
        usage: Option<TokenUsageBreakdown>,
        misshapen: Option<Box<Misshapen>>,
    ) {
        self.close_streamed();
        self.count(usage);
        let Some(turn) = &mut self.active else { return };
        turn.work = None;
        turn.diff_due = true;
        match misshapen {
            Some(misshapen) => self.correct(*misshapen),
            None => self.proceed(),
        }
    }

    /// The final message has the wrong shape: the model may try once more, then the turn fails. Where the
    /// turn goes on anyway, it was not the final one.
    fn correct(&mut self, Misshapen { note, error }: Misshapen) {
        let Some(turn) = &mut self.active else { return };
        if turn.calls.is_empty() && turn.pending.is_empty() && turn.ending.is_none() {
            if std::mem::replace(&mut turn.corrected, true) {
                return self.fail(error);
            }
            turn.pending.push_back(Pending::Note(note));
        }
        self.proceed();
    }

    /// Notes and tells what a response used. What a review uses is not the thread's.
    pub(crate) fn count(&mut self, usage: Option<TokenUsageBreakdown>) {
        if self.is_reviewing() {
            return;
        }
        if let Some(usage) = usage {
            self.history.counted(usage.total_tokens);
            self.usage.add(usage, self.window);
        }
        self.record_usage();
        self.tell_usage();
    }

    fn model_failed(&mut self, error: TurnError, window_exceeded: bool) {
        self.close_streamed();
        if let (true, false, Some(window)) = (window_exceeded, self.is_reviewing(), self.window) {
            self.usage.fill(window);
            self.history.counted(window);
            self.record_usage();
            self.tell_usage();
        }
        self.fail(error);
    }

    fn is_reviewing(&self) -> bool {
        self.active
            .as_ref()
            .is_some_and(|turn| turn.kind == TurnKind::Review)
    }

    /// Goes on when the turn waits for nothing: the next request to the model, or the end.
    pub(crate) fn proceed(&mut self) {
        let Some(turn) = &mut self.active else { return };
        let is_stopping = turn.cancelled && !turn.shells.is_empty();
        if turn.work.is_some() || turn.is_calling() || is_stopping {
            return;
        }
        if turn.ending.is_some() {
            return self.conclude();
        }
        let called = !turn.calls.is_empty();
        let is_due = std::mem::take(&mut turn.diff_due);
        if is_due && turn.diff.as_ref().is_some_and(|diff| !diff.is_empty()) {
            self.tell_diff();
        }
        self.take_outputs();
        let Some(turn) = &self.active else { return };
        match turn.kind {
            TurnKind::Regular if called || !turn.pending.is_empty() => self.follow_up(),
            TurnKind::Review if called => self.sample(Purpose::Review),
            TurnKind::Shell if !turn.shells.is_empty() => {}
            TurnKind::Shell if turn.has_message() => self.promote(),
            TurnKind::Regular => self.wind_up(),
            TurnKind::Review if turn.review.is_some() => self.wind_up(),
            TurnKind::Review | TurnKind::Compact | TurnKind::Shell => self.conclude(),
        }
    }

    /// Input came while the user's own command ran: the turn goes on as an ordinary one.
    fn promote(&mut self) {
        if let Some(turn) = &mut self.active {
            turn.kind = TurnKind::Regular;
        }
        self.compact_or_continue();
    }

    /// Asks the model again, with what waited for that.
    pub(crate) fn follow_up(&mut self) {
        let is_regular = |turn: &ActiveTurn| turn.kind == TurnKind::Regular;
        match self.is_too_long() && self.active.as_ref().is_some_and(is_regular) {
            true if self.may_compact() => self.begin_summary(true),
            true => {}
            false => self.take_input(Intake::default()),
        }
    }

    /// Gives the outputs of the tools to the model, in the order of the calls.
    pub(crate) fn take_outputs(&mut self) {
        let Some(turn) = &mut self.active else { return };
        let outputs = std::mem::take(&mut turn.calls)
            .into_iter()
            .filter_map(|call| call.output);
        outputs.flatten().for_each(|item| self.remember(item));
    }
}
