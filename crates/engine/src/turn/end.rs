//! Where turns end: by themselves, by an interrupt, by a failure, or because the thread is unloaded.

use quipu_wire as wire;
use quipu_wire::{ServerNotification, TurnCompletedNotification, TurnError, TurnStatus};

use super::{Next, Turn, Work};
use crate::effect::{Answer, Effect, Record, TurnEnd};
use crate::ids::{SampleId, TurnId};
use crate::shared::Shared;

/// How a turn that is being stopped will end.
#[derive(Debug, Clone, PartialEq)]
pub struct Ending {
    end: TurnEnd,
    /// Its tools and commands were cancelled.
    cancelled: bool,
}

impl Ending {
    pub fn end(&self) -> &TurnEnd {
        &self.end
    }
}

impl Turn {
    /// Stops what is under way. The turn ends when its tools have, or when their grace period is over.
    pub fn stop(&mut self, end: TurnEnd, shared: &mut Shared) -> Ending {
        // A failure of the model is no reason to stop the user's own commands.
        let has_failed = matches!(end, TurnEnd::Failed(_));
        let cancelled =
            self.tools.calls.is_running() || (!has_failed && self.tools.calls.has_shells());
        let has_hooks = matches!(self.work, Some(Work::Hooks { .. }));
        if let Some(sample) = self.drop_work() {
            shared.out.emit(Effect::CancelSample { sample });
        }
        let turn_id = self.id.clone();
        if cancelled || has_hooks {
            shared.out.emit(Effect::CancelTools {
                turn_id: turn_id.clone(),
            });
        }
        if cancelled {
            shared.out.emit(Effect::StartGrace { turn_id });
        }
        Ending { end, cancelled }
    }

    /// Whether nothing is under way any more.
    pub fn has_stopped(&self, ending: &Ending) -> bool {
        let has_shells = ending.cancelled && self.tools.calls.has_shells();
        self.work.is_none() && !self.tools.calls.is_running() && !has_shells
    }

    /// Forgets what the turn waits for, and returns the request to the model that it was. A review that is being
    /// rendered is still shown.
    pub(super) fn drop_work(&mut self) -> Option<SampleId> {
        match self.work.take_if(|work| *work != Work::Rendering)? {
            Work::Model { sample } => Some(sample),
            Work::Compaction(compaction) => compaction.sample(),
            Work::Context | Work::Hooks { .. } | Work::Rendering => None,
        }
    }

    /// The grace period of cancelled tools is over: those that have not ended are given up.
    pub fn grace_over(&mut self, turn_id: &TurnId, ending: &Ending, shared: &mut Shared) -> Next {
        if self.id != *turn_id || !ending.cancelled {
            // Of an earlier turn.
            return Next::Wait;
        }
        let unfinished = self.tools.calls.take_unfinished();
        shared.background.abandon(unfinished);
        Next::Proceed
    }

    /// Records a failure and notifies of it; the turn ends after that.
    pub fn notify_failure(&mut self, error: &TurnError, shared: &mut Shared) {
        shared.out.record(Record::Error {
            turn_id: self.id.clone(),
            error: error.clone(),
        });
        shared.withdraw_questions();
        shared.status.turn_failed();
        shared.notify_status();
        shared.out.of_turn(&self.id).error(error.clone(), false);
    }

    /// Ends the turn now, and gives up everything that is under way. Returns that it has ended.
    pub fn abandon(&mut self, end: TurnEnd, shared: &mut Shared) -> bool {
        if let Some(sample) = self.drop_work() {
            shared.out.emit(Effect::CancelSample { sample });
        }
        self.work = None;
        let unfinished = self.tools.calls.take_unfinished();
        shared.background.abandon(unfinished);
        let turn_id = self.id.clone();
        shared.out.emit(Effect::CancelTools { turn_id });
        self.finish(end, shared);
        true
    }

    /// Ends a turn that has nothing under way; a review is shown first. Returns whether the turn has ended.
    pub fn conclude(&mut self, end: TurnEnd, shared: &mut Shared) -> bool {
        if self.transcript.is_review() {
            self.render_review(end != TurnEnd::Completed, shared);
            return false;
        }
        self.finish(end, shared);
        true
    }

    /// The one place where a turn ends.
    fn finish(&mut self, end: TurnEnd, shared: &mut Shared) {
        self.settle(&end, shared);
        shared.out.record(Record::TurnEnded {
            turn_id: self.id.clone(),
            end: end.clone(),
            last_agent_message: self.transcript.take_last_agent_message(),
        });
        shared.out.emit(Effect::Sync);
        for reply in self.interrupts.drain(..) {
            shared.out.answer(reply, Answer::Done);
        }
        shared.status.turn_ended();
        shared.notify_status();
        let is_completed = end == TurnEnd::Completed;
        notify_completed(&self.id, end, shared);
        if let Some(announcement) = self.announcement.take_if(|_| is_completed) {
            shared.out.emit(announcement);
        }
        shared.withdraw_questions();
    }

    /// Puts everything that the turn still holds where it belongs, so that nothing is lost.
    fn settle(&mut self, end: &TurnEnd, shared: &mut Shared) {
        // The reviewer's history ends with it, and so do the outputs meant for it.
        if self.transcript.drop_review() {
            self.tools.calls.clear();
        }
        self.tools.abort_reviews(&mut shared.out.of_turn(&self.id));
        self.take_outputs(shared);
        let items = self.transcript.items();
        for shell in self.tools.calls.take_shells() {
            items.keep_shell(shell, &self.id, shared);
        }
        items.close_all(&self.id, shared);
        self.take_pending(shared);
        if let (TurnEnd::Interrupted, Some(note)) = (end, shared.settings.interrupt_note.clone()) {
            self.transcript.remember(note, shared);
        }
    }
}

/// Notifies of the end of a turn.
fn notify_completed(turn_id: &TurnId, end: TurnEnd, shared: &mut Shared) {
    let (status, error) = match end {
        TurnEnd::Completed => (TurnStatus::Completed, None),
        TurnEnd::Interrupted | TurnEnd::Replaced => (TurnStatus::Interrupted, None),
        TurnEnd::Failed(error) => (TurnStatus::Failed, Some(error)),
    };
    let params = TurnCompletedNotification {
        thread_id: shared.out.thread_id().clone().into(),
        turn: wire::Turn {
            id: turn_id.clone().into(),
            items: Vec::new(),
            items_view: None,
            status,
            error,
        },
    };
    shared.out.notify(ServerNotification::TurnCompleted(params));
}

/// Replaces the effects that follow the record of a completed turn, if that record could not be stored. Clients must
/// not see a turn as completed that later readers of the thread do not find, so it is recorded and shown as failed.
pub fn end_as_failed(error: &TurnError, mut rest: Vec<Effect>, shared: &mut Shared) {
    let is_completed = |effect: &Effect| {
        matches!(effect, Effect::Notify(ServerNotification::TurnCompleted(params))
            if params.turn.status == TurnStatus::Completed)
    };
    let Some(index) = rest.iter().position(is_completed) else {
        rest.into_iter().for_each(|effect| shared.out.emit(effect));
        return;
    };
    let after = rest.split_off(index + 1);
    let completed = rest.pop();
    for effect in rest {
        if !matches!(effect, Effect::Broadcast(_)) {
            shared.out.emit(effect);
        }
    }
    if let Some(Effect::Notify(ServerNotification::TurnCompleted(mut params))) = completed {
        let turn_id = TurnId::from(params.turn.id.as_str());
        shared.status.turn_not_stored();
        shared.out.record(Record::Error {
            turn_id: turn_id.clone(),
            error: error.clone(),
        });
        shared.notify_status();
        shared.out.of_turn(&turn_id).error(error.clone(), false);
        params.turn.status = TurnStatus::Failed;
        params.turn.error = Some(error.clone());
        shared.out.notify(ServerNotification::TurnCompleted(params));
    }
    for effect in after {
        if !matches!(effect, Effect::Announce { .. }) {
            shared.out.emit(effect);
        }
    }
}
