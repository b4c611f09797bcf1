//! How turns end: by themselves, by an interrupt, by a fault, or because the thread is unloaded.

use quipu_wire::{
    ServerNotification, ThreadItem, Turn, TurnCompletedNotification, TurnError, TurnStatus,
};

use crate::effect::{Answer, Effect, Record, Refusal, TurnEnd};
use crate::input::Input;
use crate::thread::Thread;
use crate::turn::{Stopping, TurnKind};

impl Thread {
    /// An interrupt is always answered: at the end of the turn, or at once if none runs.
    pub(crate) fn interrupt(&mut self, reply: Option<u64>) {
        let Some(turn) = &mut self.active else {
            return reply
                .into_iter()
                .for_each(|reply| self.answer(reply, Answer::Done));
        };
        turn.interrupts.extend(reply);
        self.stop(Stopping::Interrupted);
    }

    /// Stops the running turn; it ends when its tools have, or when their time is over.
    pub(crate) fn stop(&mut self, why: Stopping) {
        let Some(turn) = self
            .active
            .as_mut()
            .filter(|turn| turn.stopping == Stopping::No)
        else {
            return;
        };
        turn.stopping = why;
        turn.awaiting = false;
        let turn_id = turn.id.clone();
        let sample = turn.sampling.take().map(|sampling| sampling.sample);
        let working = turn.is_working();
        if let Some(sample) = sample {
            self.emit(Effect::CancelSample { sample });
        }
        if working {
            self.emit(Effect::CancelTools {
                turn_id: turn_id.clone(),
            });
            self.emit(Effect::StartGrace { turn_id });
        }
        self.proceed();
    }

    pub(crate) fn grace_over(&mut self, turn_id: &str) {
        let stopping = |turn: &&mut crate::turn::ActiveTurn| {
            turn.id == turn_id && turn.stopping != Stopping::No
        };
        let Some(turn) = self.active.as_mut().filter(stopping) else {
            return;
        };
        turn.calls.retain(|call| call.output.is_some());
        turn.shells.clear();
        self.proceed();
    }

    /// Ends a turn that was told to stop and has nothing under way any more.
    pub(crate) fn finish_stopped(&mut self) {
        let Some(turn) = &self.active else { return };
        let end = match turn.stopping {
            Stopping::Replaced => TurnEnd::Replaced,
            Stopping::No | Stopping::Interrupted => TurnEnd::Interrupted,
        };
        if turn.kind == TurnKind::Review && turn.review.is_some() {
            return self.render_review(true);
        }
        self.take_outputs();
        self.finish(end);
    }

    /// Notes an error that the turn will end with.
    pub(crate) fn fail(&mut self, error: TurnError) {
        let Some(turn) = &mut self.active else { return };
        turn.error = Some(error.clone());
        let turn_id = turn.id.clone();
        self.record(Record::Error {
            turn_id,
            error: error.clone(),
        });
        self.status.running = false;
        self.status.failed = true;
        self.status.waiting.clear();
        self.tell_status();
        self.tell_error(error, false);
    }

    /// The driver failed. Whatever was under way is given up; the turn ends now.
    pub(crate) fn fault(&mut self, error: TurnError) {
        let Some(turn) = &mut self.active else { return };
        let turn_id = turn.id.clone();
        let sample = turn.sampling.take().map(|sampling| sampling.sample);
        if let Some(sample) = sample {
            self.emit(Effect::CancelSample { sample });
        }
        self.emit(Effect::CancelTools { turn_id });
        self.fail(error.clone());
        self.finish(TurnEnd::Failed(error));
    }

    pub(crate) fn close(&mut self) {
        if let Some(Input::Start(start)) = self.next.take().map(|input| *input) {
            self.answer(start.reply, Answer::Refused(Refusal::Closed));
        }
        if let Some(turn) = &mut self.active {
            let turn_id = turn.id.clone();
            turn.stopping = Stopping::Interrupted;
            let sample = turn.sampling.take().map(|sampling| sampling.sample);
            if let Some(sample) = sample {
                self.emit(Effect::CancelSample { sample });
            }
            self.emit(Effect::CancelTools { turn_id });
            self.take_outputs();
            self.finish(TurnEnd::Interrupted);
        }
        for (_, (turn_id, item)) in std::mem::take(&mut self.background) {
            self.record(Record::Item { turn_id, item });
        }
        self.emit(Effect::Sync);
        self.status.closed = true;
        self.tell_status();
    }

    /// The one place where a turn ends.
    pub(crate) fn finish(&mut self, end: TurnEnd) {
        self.close_items();
        let Some(turn) = self.active.as_mut() else {
            return;
        };
        let (turn_id, interrupts) = (turn.id.clone(), std::mem::take(&mut turn.interrupts));
        let last_agent_message = turn.last_agent_message.take();
        let questions = std::mem::take(&mut turn.questions);
        self.record(Record::TurnEnded {
            turn_id: turn_id.clone(),
            end: end.clone(),
            last_agent_message,
        });
        self.emit(Effect::Sync);
        for reply in interrupts {
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
        let turn = Turn {
            id: turn_id,
            items: Vec::new(),
            status,
            error,
        };
        let params = TurnCompletedNotification {
            thread_id: self.id.clone(),
            turn,
        };
        self.notify(ServerNotification::TurnCompleted(params));
        for (question, call_id) in questions {
            self.emit(Effect::Withdraw { question });
            self.resolve(question);
            self.emit(Effect::Deliver { question, call_id });
        }
        self.active = None;
    }

    /// Completes what is open, except the items of processes that live on.
    fn close_items(&mut self) {
        let Some(turn) = &mut self.active else { return };
        let turn_id = turn.id.clone();
        let items = turn.items.take_all();
        for item in items {
            match &item {
                ThreadItem::CommandExecution {
                    id,
                    process_id: Some(_),
                    ..
                } if !self.status.closed => {
                    self.background.insert(id.clone(), (turn_id.clone(), item));
                }
                _ => {
                    self.record_item(&item);
                    self.show_completed(item);
                }
            }
        }
    }
}
