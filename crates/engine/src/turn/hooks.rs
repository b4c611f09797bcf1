//! The user's hooks at fixed points of a turn: before its first input, before each input, and when the
//! model is done. The driver runs them; the turn waits for what they decide, as it waits for a model.

use super::pending::PendingInput;
use super::{Next, Progress, Turn, TurnKind, Work};
use crate::effect::{Effect, HookPoint, Purpose};
use crate::ids::{HookRunId, TurnId};
use crate::input::{HookReport, HookVerdict, HooksDone, UserMessage, Waiting};
use crate::shared::Shared;

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

/// What became of the input that was pending for the next request to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Intake {
    /// The model has something new to read.
    accepted: bool,
    /// A hook has blocked some of it.
    blocked: bool,
}

impl Turn {
    /// Begins with the input of the turn. A review is a session of its own.
    pub(super) fn begin_session(&mut self, shared: &mut Shared) -> Progress {
        let is_due = match self.kind {
            TurnKind::Review => shared.settings.hooks,
            _ => std::mem::take(&mut shared.is_session_new),
        };
        match is_due {
            true => self.run_hooks(Stage::SessionStart, HookPoint::SessionStart, shared),
            false => self.take_input(Intake::default(), shared),
        }
    }

    /// Gives the pending input to the model, unless hooks block it. If they block all of it, there is nothing to
    /// ask the model.
    pub(super) fn take_input(&mut self, mut intake: Intake, shared: &mut Shared) -> Progress {
        while let Some(pending) = self.next_input() {
            match pending {
                PendingInput::Message(message) if shared.settings.hooks => {
                    let point = HookPoint::UserPromptSubmit(message.content.clone());
                    return self.run_hooks(Stage::Prompt { message, intake }, point, shared);
                }
                PendingInput::Message(message) => self.transcript.show_message(message, shared),
                PendingInput::Note(note) => self.transcript.remember(note, shared),
            }
            intake.accepted = true;
        }
        match intake.blocked && !intake.accepted {
            true => Ok(Next::Conclude),
            false => self.sample_turn(shared),
        }
    }

    /// The next input of the turn. Notes that come during a review are for the thread, not for the reviewer.
    fn next_input(&mut self) -> Option<PendingInput> {
        match self.kind {
            TurnKind::Review => self.pending.pop_message(),
            _ => self.pending.pop(),
        }
    }

    fn sample_turn(&mut self, shared: &mut Shared) -> Progress {
        let purpose = match self.kind {
            TurnKind::Review => Purpose::Review,
            _ => Purpose::Turn,
        };
        self.sample(purpose, shared)
    }

    /// The model has given its final answer: hooks may make it continue, else the turn ends.
    pub(super) fn response_final(&mut self, shared: &mut Shared) -> Progress {
        if !shared.settings.hooks {
            return self.conclude_announced();
        }
        let point = HookPoint::Stop {
            active: self.stop_hook_active,
            last_agent_message: self.transcript.last_message(),
        };
        self.run_hooks(Stage::Stop, point, shared)
    }

    /// Ends a turn that went as it should.
    fn conclude_announced(&mut self) -> Progress {
        self.announcement = Some(Effect::Announce {
            turn_id: self.id.clone(),
            last_agent_message: self.transcript.last_message(),
        });
        Ok(Next::Conclude)
    }

    fn run_hooks(&mut self, stage: Stage, point: HookPoint, shared: &mut Shared) -> Progress {
        let run = shared.sequence.next_hook_run();
        self.work = Some(Work::Hooks { run, stage });
        shared.out.emit(Effect::RunHooks {
            run,
            turn_id: self.id.clone(),
            point,
        });
        Ok(Next::Wait)
    }

    /// Takes what a run of hooks reports.
    pub fn hooks(&mut self, run: HookRunId, report: HookReport, shared: &mut Shared) -> Progress {
        match (self.work.take(), report) {
            (
                Some(Work::Hooks {
                    run: current,
                    stage,
                }),
                HookReport::Done(done),
            ) if current == run => self.hooks_done(stage, done, shared),
            (work, report) => {
                self.work = work;
                // What a run reports that was cancelled or is done comes too late.
                let is_current =
                    matches!(&self.work, Some(Work::Hooks { run: current, .. }) if *current == run);
                shared.hooks_reported(&self.id, run, report, is_current);
                Ok(Next::Wait)
            }
        }
    }

    fn hooks_done(&mut self, stage: Stage, done: HooksDone, shared: &mut Shared) -> Progress {
        let HooksDone { context, verdict } = done;
        match stage {
            Stage::SessionStart => {
                self.transcript.remember_all(context, shared);
                match verdict {
                    HookVerdict::End => Ok(Next::Conclude),
                    _ => self.take_input(Intake::default(), shared),
                }
            }
            Stage::Prompt {
                mut message,
                mut intake,
            } => match verdict {
                HookVerdict::End => {
                    self.transcript.remember_all(context, shared);
                    intake.blocked = true;
                    match intake.accepted {
                        true => self.sample_turn(shared),
                        false => self.take_input(intake, shared),
                    }
                }
                _ => {
                    // The context comes after the message itself and before what that refers to.
                    let place = message.history.len().min(1);
                    message.history.splice(place..place, context);
                    self.transcript.show_message(message, shared);
                    intake.accepted = true;
                    self.take_input(intake, shared)
                }
            },
            Stage::Stop => self.stop_hooks_done(verdict, shared),
        }
    }

    fn stop_hooks_done(&mut self, verdict: HookVerdict, shared: &mut Shared) -> Progress {
        match verdict {
            HookVerdict::Continue { prompt, fragments } => {
                self.stop_hook_active = true;
                let transcript = &mut self.transcript;
                transcript.show_hook_prompt(prompt, fragments, shared);
                self.follow_up(shared)
            }
            // Input came meanwhile.
            _ if self.kind == TurnKind::Regular && !self.pending.is_empty() => {
                self.follow_up(shared)
            }
            HookVerdict::Proceed => self.conclude_announced(),
            HookVerdict::End => Ok(Next::Conclude),
        }
    }
}

impl Shared {
    /// Passes on what a run of hooks reports, unless that comes too late.
    fn hooks_reported(
        &mut self,
        turn: &TurnId,
        run: HookRunId,
        report: HookReport,
        is_current: bool,
    ) {
        match report {
            HookReport::Ask { question, request } if is_current => {
                self.ask(question, run.asker(), request, Some(Waiting::UserInput));
            }
            report if is_current => self.out.of_turn(turn).hooks(report),
            report => self.out.refuse_hooks(run, report),
        }
    }
}
