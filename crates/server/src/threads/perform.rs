//! Performing what the engine says, in its order: each effect goes to the part of the thread that owns what it is about.

use std::collections::VecDeque;
use std::time::Duration;

use quipu_engine::{Answer, Effect, Input, Record, ReplyToken, TurnId};
use quipu_wire::{ServerNotification, TurnError};

use super::actor::Actor;
use super::app_usage;
use super::audience::Audience;
use super::compact;
use super::goal;
use super::message::Message;
use super::records::{self, Writing};
use super::{hooks, read_state, review, shell, turn_settings};
use crate::announce::Announcement;

/// The time that cancelled tools have to end by themselves.
const GRACE: Duration = Duration::from_millis(500);

/// Whether notifications that are held may leave after this effect.
fn keeps_held(effect: &Effect, audience: &Audience) -> bool {
    match effect {
        Effect::Notify(_) | Effect::Broadcast(_) | Effect::Record(_) => true,
        Effect::Sync => audience.holds_status(),
        _ => false,
    }
}

impl Actor {
    /// Performs effects and the ones that follow from them.
    pub async fn perform(&mut self, effects: Vec<Effect>) {
        self.perform_holding(effects).await;
        self.audience.release().await;
    }

    /// The same, but the last notifications are held back until they are released.
    pub async fn perform_holding(&mut self, effects: Vec<Effect>) {
        let mut queue = VecDeque::from(effects);
        while let Some(effect) = queue.pop_front() {
            if !keeps_held(&effect, &self.audience) {
                self.audience.release().await;
            }
            if effect == Effect::Sync {
                if let Some(error) = self.recorder.sync() {
                    cut_if_lost(self);
                    let rest = queue.into();
                    queue = self.engine.step(Input::NotStored { error, rest }).into();
                }
            } else if let Some(input) = self.perform_one(effect).await {
                queue.extend(self.engine.step(input));
            }
        }
    }

    /// Performs one effect; what came of it at once is given back as an input.
    async fn perform_one(&mut self, effect: Effect) -> Option<Input> {
        match effect {
            Effect::Record(record) => return self.record(record),
            // What follows depends on it; see `perform_holding`.
            Effect::Sync => {}
            Effect::Notify(mut notification) => {
                self.audience.stamp(&mut notification);
                self.sampler.spending().add_cost(&mut notification);
                return self.notify(&notification).await;
            }
            Effect::Warn(message) => self.audience.warn_of(&self.handle.id, message).await,
            // A status shows nothing that is stored.
            Effect::Broadcast(notification) => {
                let (server, thread) = (&self.server, &self.handle);
                self.audience.broadcast(server, thread, &notification).await;
            }
            Effect::Answer { reply, answer } => return self.answer(reply, answer).await,
            Effect::Ask { question, request } => {
                self.questions.ask(&self.audience, question, request).await
            }
            // An answer that still comes finds no question.
            Effect::Withdraw { .. } => {}
            Effect::Deliver { question, .. } => self.questions.deliver(question),
            Effect::RunTool { turn_id, call } => self.run_tool(&turn_id, call),
            Effect::RunShell {
                turn_id,
                item_id,
                command,
            } => return Some(shell::run(self, turn_id, item_id, command)),
            Effect::CancelTools { turn_id } => self.tools.cancel(&turn_id),
            Effect::StartGrace { turn_id } => start_grace(self, turn_id),
            Effect::Sample {
                sample,
                turn_id,
                purpose,
            } => self.sample(sample, &turn_id, purpose).await,
            Effect::CancelSample { sample } => self.sampler.cancel(sample),
            Effect::RunHooks {
                run,
                turn_id,
                point,
            } => return Some(hooks::run(self, run, &turn_id, point)),
            Effect::Announce {
                turn_id,
                last_agent_message,
            } => announce(self, turn_id, last_agent_message),
            Effect::BuildContext { turn_id } => {
                let context = self.build_context(&turn_id);
                return Some(Input::Context { turn_id, context });
            }
            Effect::Summarise {
                turn_id,
                summary,
                mid_turn,
            } => {
                let compacted = compact::summarise(self, &turn_id, summary, mid_turn);
                return Some(Input::Compacted { turn_id, compacted });
            }
            Effect::RenderReview {
                turn_id,
                last_message,
                interrupted,
            } => {
                let outcome = review::rendered(last_message.as_deref(), interrupted);
                return Some(Input::ReviewRendered { turn_id, outcome });
            }
        }
        None
    }

    /// Answers a request, with what was recorded before it handed to the system.
    async fn answer(&mut self, reply: ReplyToken, answer: Answer) -> Option<Input> {
        let flushed = self.recorder.flush();
        self.replies.answer(reply, answer).await;
        self.fault(flushed.failure)
    }

    fn record(&mut self, record: Record) -> Option<Input> {
        if let Record::TurnStarted { .. } = &record {
            self.recorder.begin_turn();
            self.audience.prepare();
            goal::turn_started(self);
        } else if let Record::TurnEnded {
            turn_id,
            end,
            last_agent_message,
            ..
        } = &record
        {
            self.agent
                .turn_ended(end.clone(), last_agent_message.clone());
            goal::turn_ended(self, turn_id, end);
            read_state::turn_ended(self, turn_id, end, last_agent_message.is_some());
        }
        let writing = Writing::new(&self.server, &self.session, &self.handle.id);
        let lines = records::lines(record, &writing);
        let failure = self.recorder.append(&lines);
        self.fault(failure)
    }

    /// Ends the running turn because of an error, if there are both.
    fn fault(&mut self, error: Option<TurnError>) -> Option<Input> {
        cut_if_lost(self);
        let error = error.filter(|_| self.engine.active_turn().is_some())?;
        Some(Input::Fault { error })
    }

    /// Notifies the subscribers. What could not be stored must not be shown as done; the turn ends as failed
    /// instead.
    async fn notify(&mut self, notification: &ServerNotification) -> Option<Input> {
        let flushed = self.recorder.flush();
        cut_if_lost(self);
        if flushed.is_complete || !matches!(notification, ServerNotification::ItemCompleted(_)) {
            self.track(notification);
            let is_end = matches!(notification, ServerNotification::TurnCompleted(_));
            let outcome = is_end.then(|| self.agent.outcome()).flatten();
            self.audience.hold(notification);
            if let Some(outcome) = outcome {
                self.audience.release().await;
                self.agent.set_state(outcome);
            }
        }
        self.fault(flushed.failure)
    }

    /// Keeps up with what clients are notified of.
    fn track(&mut self, notification: &ServerNotification) {
        self.audience.track(notification);
        self.reports.track(&self.session, notification);
        self.realtime.track(notification);
        self.sampler.spending().log(notification);
        app_usage::track(&self.server, &self.session, &self.sampler, notification);
        match notification {
            ServerNotification::TurnStarted(_) => self.agent.turn_started(),
            ServerNotification::TurnCompleted(_) => {
                turn_settings::suspend(self);
                self.sampler.forget_tools();
                self.tools.end_turn();
            }
            _ => {}
        }
    }
}

/// Once another server has the thread, clients that can go on there are not notified of anything here.
fn cut_if_lost(actor: &mut Actor) {
    if actor.recorder.is_taken_over() {
        actor.audience.cut();
    }
}

/// Starts the user's program for the end of a turn, if there is one.
fn announce(actor: &Actor, turn_id: TurnId, last_assistant_message: Option<String>) {
    let Some(argv) = actor.session.snapshot.session().notify else {
        return;
    };
    let history = actor.engine.own_history().iter();
    let announcement = Announcement {
        thread_id: actor.handle.id.to_string(),
        turn_id: turn_id.into(),
        cwd: actor.session.cwd_text(),
        client: actor.audience.client_name().map(str::to_owned),
        input_messages: history.filter_map(quipu_journal::said_by_user).collect(),
        last_assistant_message,
    };
    let env = actor.server.settings.config.env().vars();
    let env = env.map(|(key, value)| (key.into(), value.into()));
    actor
        .server
        .announcer
        .start(argv, announcement, env.collect(), actor.server.cwd());
}

/// Calls back when the time is over that cancelled tools are given.
fn start_grace(actor: &Actor, turn_id: TurnId) {
    let handle = actor.handle.clone();
    tokio::spawn(async move {
        tokio::time::sleep(GRACE).await;
        handle.send(Message::GraceOver { turn_id }).await;
    });
}
