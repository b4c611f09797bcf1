//! The user's hooks at fixed points of a turn: before its first input, before each input, and when the
//! model is done. The driver runs them; the turn waits for what they decide, as it waits for a model.

use quipu_wire::{
    HookCompletedNotification, HookStartedNotification, ServerNotification, ThreadItem,
};

use crate::effect::{Effect, HookPoint, Purpose};
use crate::input::{HookReport, HookVerdict, HooksDone, UserMessage};
use crate::thread::Thread;
use crate::turn::{Pending, TurnKind, Work};

/// Where in its turn a run of hooks is.
#[derive(Debug, Clone, PartialEq)]
pub enum Stage {
    SessionStart,
    /// Before this message.
    Prompt {
        message: UserMessage,
        intake: Intake,
    },
    Stop,
}

/// What has become of the input that waited for the next request to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Intake {
    /// The model has something new to read.
    accepted: bool,
    /// A hook was against some of it.
    blocked: bool,
}

impl Thread {
    /// Begins with the input of a turn. A review is a session of its own.
    pub(crate) fn begin_session(&mut self) {
        let Some(turn) = &self.active else { return };
        let is_due = match turn.kind {
            TurnKind::Review => self.hooks,
            _ => std::mem::take(&mut self.session_start),
        };
        if is_due {
            return self.run_hooks(Stage::SessionStart, HookPoint::SessionStart);
        }
        self.take_input(Intake::default());
    }

    /// Gives the waiting input to the model, as far as hooks let it pass. Where they let nothing pass, there
    /// is nothing to ask the model.
    pub(crate) fn take_input(&mut self, mut intake: Intake) {
        while let Some(pending) = self.next_input() {
            match pending {
                Pending::Message(message) if self.hooks => {
                    let point = HookPoint::UserPromptSubmit(message.content.clone());
                    return self.run_hooks(Stage::Prompt { message, intake }, point);
                }
                Pending::Message(message) => self.show_message(message),
                Pending::Note(note) => self.remember(note),
            }
            intake.accepted = true;
        }
        match intake.blocked && !intake.accepted {
            true => self.conclude(),
            false => self.sample_turn(),
        }
    }

    /// The next input of the turn. Notes that come during a review are for the thread, not for the reviewer.
    fn next_input(&mut self) -> Option<Pending> {
        let turn = self.active.as_ref()?;
        let is_message = matches!(turn.pending.front(), Some(Pending::Message(_)));
        (is_message || turn.kind != TurnKind::Review).then(|| self.next_pending())?
    }

    fn sample_turn(&mut self) {
        self.sample(match self.active.as_ref().map(|turn| turn.kind) {
            Some(TurnKind::Review) => Purpose::Review,
            _ => Purpose::Turn,
        });
    }

    /// The model is done: hooks may make it go on, else the turn ends and is announced.
    pub(crate) fn wind_up(&mut self) {
        if !self.hooks {
            return self.end_announced();
        }
        let Some(turn) = &self.active else { return };
        let point = HookPoint::Stop {
            active: turn.stop_hook_active,
            last_agent_message: turn.last_words(),
        };
        self.run_hooks(Stage::Stop, point);
    }

    /// Ends a turn that went as it should.
    fn end_announced(&mut self) {
        let Some(turn) = &mut self.active else { return };
        turn.announcement = Some(Effect::Announce {
            turn_id: turn.id.clone(),
            last_agent_message: turn.last_words(),
        });
        self.conclude();
    }

    fn run_hooks(&mut self, stage: Stage, point: HookPoint) {
        self.hook_runs += 1;
        let run = self.hook_runs;
        let Some(turn) = &mut self.active else { return };
        turn.work = Some(Work::Hooks { run, stage });
        let turn_id = turn.id.clone();
        self.emit(Effect::RunHooks {
            run,
            turn_id,
            point,
        });
    }

    /// Takes what the hooks under way report; what others report is too late.
    pub(crate) fn hooks(&mut self, run: u64, report: HookReport) {
        let Some(turn) = &mut self.active else { return };
        if !matches!(&turn.work, Some(Work::Hooks { run: current, .. }) if *current == run) {
            return;
        }
        match report {
            HookReport::Started(_) | HookReport::Completed(_) => self.tell_hooks(report),
            HookReport::Done(done) => {
                if let Some(Work::Hooks { stage, .. }) = turn.work.take() {
                    self.hooks_done(stage, done);
                }
            }
        }
    }

    fn hooks_done(&mut self, stage: Stage, HooksDone { context, verdict }: HooksDone) {
        match stage {
            Stage::SessionStart => {
                context.into_iter().for_each(|item| self.remember(item));
                match verdict {
                    HookVerdict::End => self.conclude(),
                    _ => self.take_input(Intake::default()),
                }
            }
            Stage::Prompt {
                mut message,
                mut intake,
            } => match verdict {
                HookVerdict::End => {
                    context.into_iter().for_each(|item| self.remember(item));
                    intake.blocked = true;
                    match intake.accepted {
                        true => self.sample_turn(),
                        false => self.take_input(intake),
                    }
                }
                _ => {
                    // The context comes after the message itself and before what that refers to.
                    let place = message.history.len().min(1);
                    message.history.splice(place..place, context);
                    self.show_message(message);
                    intake.accepted = true;
                    self.take_input(intake);
                }
            },
            Stage::Stop => self.stop_hooks_done(verdict),
        }
    }

    fn stop_hooks_done(&mut self, verdict: HookVerdict) {
        let Some(turn) = &mut self.active else { return };
        match verdict {
            HookVerdict::GoOn { prompt, fragments } => {
                turn.stop_hook_active = true;
                let id = turn.items.claim(&self.item_ids.make());
                let is_kept = turn.review.is_none();
                self.remember(prompt);
                // What a reviewer goes on with is not stored, so it is not shown either.
                if is_kept {
                    let item = ThreadItem::HookPrompt { id, fragments };
                    self.show_started(item.clone());
                    self.show_completed(item);
                }
                self.follow_up();
            }
            // Input came meanwhile.
            _ if turn.kind == TurnKind::Regular && !turn.pending.is_empty() => self.follow_up(),
            HookVerdict::Proceed => self.end_announced(),
            HookVerdict::End => self.conclude(),
        }
    }

    /// Tells that hooks began or ended.
    pub(crate) fn tell_hooks(&mut self, report: HookReport) {
        let (thread_id, turn_id) = self.ids();
        let turn_id = Some(turn_id);
        match report {
            HookReport::Started(runs) => {
                for run in runs {
                    let (thread_id, turn_id) = (thread_id.clone(), turn_id.clone());
                    self.notify(ServerNotification::HookStarted(HookStartedNotification {
                        thread_id,
                        turn_id,
                        run,
                    }));
                }
            }
            HookReport::Completed(runs) => {
                for run in runs {
                    let (thread_id, turn_id) = (thread_id.clone(), turn_id.clone());
                    self.notify(ServerNotification::HookCompleted(
                        HookCompletedNotification {
                            thread_id,
                            turn_id,
                            run,
                        },
                    ));
                }
            }
            HookReport::Done(_) => {}
        }
    }
}
