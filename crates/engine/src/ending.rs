//! How turns end: by themselves, by an interrupt, by a fault, or because the thread is unloaded.

use quipu_wire::{
    ErrorNotification, ServerNotification, Turn, TurnCompletedNotification, TurnError, TurnStatus,
};

use crate::effect::{Answer, Effect, Record, Refusal, TurnEnd};
use crate::input::Input;
use crate::items;
use crate::thread::Thread;
use crate::turn::ActiveTurn;

impl Thread {
    /// An interrupt is always answered: at the end of the turn, or at once if none runs.
    pub(crate) fn interrupt(&mut self, reply: Option<u64>) {
        match &mut self.active {
            Some(turn) => turn.interrupts.extend(reply),
            None => reply
                .into_iter()
                .for_each(|reply| self.answer(reply, Answer::Done)),
        }
        self.stop(TurnEnd::Interrupted);
    }

    /// Stops the running turn; it ends when its tools have, or when their time is over.
    pub(crate) fn stop(&mut self, end: TurnEnd) {
        let Some(turn) = self.active.as_mut().filter(|turn| turn.ending.is_none()) else {
            return;
        };
        // A failure of the model is no reason to stop the user's own commands.
        let has_failed = matches!(end, TurnEnd::Failed(_));
        turn.cancelled = turn.is_calling() || (!has_failed && !turn.shells.is_empty());
        turn.ending = Some(end);
        let (turn_id, cancelled) = (turn.id.clone(), turn.cancelled);
        let is_hooking = turn.is_hooking();
        if let Some(sample) = turn.drop_work() {
            self.emit(Effect::CancelSample { sample });
        }
        if cancelled || is_hooking {
            self.emit(Effect::CancelTools {
                turn_id: turn_id.clone(),
            });
        }
        if cancelled {
            self.emit(Effect::StartGrace { turn_id });
        }
        self.proceed();
    }

    pub(crate) fn grace_over(&mut self, turn_id: &str) {
        let is_cancelled = |turn: &&mut ActiveTurn| turn.id == turn_id && turn.cancelled;
        if let Some(turn) = self.active.as_mut().filter(is_cancelled) {
            self.abandoned.extend(turn.take_unfinished());
            self.proceed();
        }
    }

    /// Ends the turn with an error, as soon as its tools allow.
    pub(crate) fn fail(&mut self, error: TurnError) {
        if let Some(turn) = &mut self.active {
            turn.work = None;
        }
        self.break_off(error);
    }

    /// The same while the model may still be answering.
    pub(crate) fn break_off(&mut self, error: TurnError) {
        self.tell_failure(error.clone());
        self.stop(TurnEnd::Failed(error));
    }

    fn tell_failure(&mut self, error: TurnError) {
        let Some(turn) = &mut self.active else { return };
        let turn_id = turn.id.clone();
        let questions = std::mem::take(&mut turn.questions);
        self.record(Record::Error {
            turn_id,
            error: error.clone(),
        });
        self.withdraw(questions);
        self.status.running = false;
        self.status.failed = true;
        self.tell_status();
        self.tell_error(error, false);
    }

    /// The driver failed. Whatever was under way is given up; the turn ends now.
    pub(crate) fn fault(&mut self, error: TurnError) {
        if self.active.is_some() {
            self.tell_failure(error.clone());
            self.give_up(TurnEnd::Failed(error));
        }
    }

    pub(crate) fn close(&mut self) {
        if self.active.is_some() {
            self.give_up(TurnEnd::Interrupted);
        }
        for input in std::mem::take(&mut self.waiting) {
            match input {
                // It was accepted, so it begins and ends.
                Input::Review(review) => {
                    self.begin_review(review);
                    self.give_up(TurnEnd::Interrupted);
                }
                input => self.refuse(input, Refusal::Closed),
            }
        }
        self.end_background();
        // A thread in which nothing was said leaves nothing behind.
        if !self.effects.is_empty() {
            self.emit(Effect::Sync);
        }
        self.status.closed = true;
        self.tell_status();
    }

    /// Ends the turn at once, with everything that is under way. A failure stays one.
    fn give_up(&mut self, end: TurnEnd) {
        let Some(turn) = &mut self.active else { return };
        if !matches!(
            (&turn.ending, &end),
            (Some(TurnEnd::Failed(_)), TurnEnd::Interrupted)
        ) {
            turn.ending = Some(end);
        }
        let turn_id = turn.id.clone();
        let sample = turn.drop_work();
        turn.work = None;
        self.abandoned.extend(turn.take_unfinished());
        if let Some(sample) = sample {
            self.emit(Effect::CancelSample { sample });
        }
        self.emit(Effect::CancelTools { turn_id });
        self.finish();
    }

    /// Ends a turn that has nothing under way any more; a review is shown first.
    pub(crate) fn conclude(&mut self) {
        match self.active.as_ref().and_then(|turn| turn.review.as_ref()) {
            Some(_) => self.render_review(),
            None => self.finish(),
        }
    }

    /// The one place where a turn ends.
    pub(crate) fn finish(&mut self) {
        self.settle();
        let Some(turn) = self.active.take() else {
            return;
        };
        let end = turn.ending.unwrap_or(TurnEnd::Completed);
        let is_completed = end == TurnEnd::Completed;
        self.record(Record::TurnEnded {
            turn_id: turn.id.clone(),
            end: end.clone(),
            last_agent_message: turn.last_agent_message,
        });
        self.emit(Effect::Sync);
        for reply in turn.interrupts {
            self.answer(reply, Answer::Done);
        }
        self.status.running = false;
        self.status.waiting.clear();
        self.tell_status();
        let (status, error) = match end {
            TurnEnd::Completed => (TurnStatus::Completed, None),
            TurnEnd::Interrupted | TurnEnd::Replaced => (TurnStatus::Interrupted, None),
            TurnEnd::Failed(error) => (TurnStatus::Failed, Some(error)),
        };
        let params = TurnCompletedNotification {
            thread_id: self.id.clone(),
            turn: Turn {
                id: turn.id,
                items: Vec::new(),
                status,
                error,
            },
        };
        self.notify(ServerNotification::TurnCompleted(params));
        if let Some(announcement) = turn.announcement.filter(|_| is_completed) {
            self.emit(announcement);
        }
        self.withdraw(turn.questions);
    }

    /// The end of a turn could not be stored, and `rest` is what was to follow. A turn told as completed
    /// must be found so by whoever reads the thread later; so it is told, and recorded, as failed.
    pub fn end_not_stored(&mut self, error: TurnError, mut rest: Vec<Effect>) -> Vec<Effect> {
        let is_completed = |effect: &Effect| {
            matches!(effect, Effect::Notify(ServerNotification::TurnCompleted(params))
                if params.turn.status == TurnStatus::Completed)
        };
        let Some(index) = rest.iter().position(is_completed) else {
            return rest;
        };
        let mut after = rest.split_off(index + 1);
        after.retain(|effect| !matches!(effect, Effect::Announce { .. }));
        let Some(Effect::Notify(ServerNotification::TurnCompleted(mut params))) = rest.pop() else {
            return after;
        };
        let turn_id = params.turn.id.clone();
        rest.retain(|effect| !matches!(effect, Effect::Broadcast(_)));
        self.status.failed = true;
        self.effects = rest;
        self.record(Record::Error {
            turn_id: turn_id.clone(),
            error: error.clone(),
        });
        self.tell_status();
        self.notify(ServerNotification::Error(ErrorNotification {
            error: error.clone(),
            will_retry: false,
            thread_id: self.id.clone(),
            turn_id,
        }));
        params.turn.status = TurnStatus::Failed;
        params.turn.error = Some(error);
        self.notify(ServerNotification::TurnCompleted(params));
        self.effects.extend(after);
        std::mem::take(&mut self.effects)
    }

    /// Puts everything the turn still holds where it belongs: nothing that was said is lost.
    fn settle(&mut self) {
        let Some(turn) = &mut self.active else { return };
        // The reviewer's history ends with it, and so do the outputs meant for it.
        if turn.review.take().is_some() {
            turn.calls.clear();
        }
        self.abort_all_reviews();
        self.take_outputs();
        self.close_items();
        self.take_pending();
        let is_interrupted = self
            .active
            .as_ref()
            .is_some_and(|turn| turn.ending == Some(TurnEnd::Interrupted));
        if let (true, Some(note)) = (is_interrupted, self.interrupt_note.clone()) {
            self.remember(note);
        }
    }

    /// Completes what is open, except the items of what lives on.
    fn close_items(&mut self) {
        let Some(turn) = &mut self.active else { return };
        let turn_id = turn.id.clone();
        for id in std::mem::take(&mut turn.shells) {
            let was_shown = turn.items.was_shown(&id);
            let item = turn.items.take(&id).map(items::abandoned);
            self.background
                .keep_shell(id, turn_id.clone(), item, was_shown);
        }
        for item in turn.items.take_all() {
            if items::is_process(&item) {
                self.background.keep_process(turn_id.clone(), item);
            } else {
                self.complete(item);
            }
        }
    }
}
