//! Doing what the engine says, in its order.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::time::Duration;

use quipu_engine::{Effect, Input, Record};
use quipu_wire::{
    CodexErrorInfo, CollabAgentState, ServerNotification, ServerRequest, ThreadStatus, TurnError,
};

use super::actor::Actor;
use super::message::Message;
use super::records::{self, Writing};
use crate::agents;
use crate::announce::Announcement;

/// What cancelled tools are given to end by themselves.
const GRACE: Duration = Duration::from_millis(500);

impl Actor {
    /// Performs effects and the ones that follow from them.
    pub async fn perform(&mut self, effects: Vec<Effect>) {
        self.perform_holding(effects).await;
        self.subscribers.release().await;
    }

    /// The same, but what the subscribers are told last is held until it is released.
    pub async fn perform_holding(&mut self, effects: Vec<Effect>) {
        let mut queue = VecDeque::from(effects);
        while let Some(effect) = queue.pop_front() {
            if !matches!(effect, Effect::Notify(_) | Effect::Record(_)) {
                self.subscribers.release().await;
            }
            if effect == Effect::Sync {
                if let Err(error) = self.sync() {
                    let error = self.not_stored(&error);
                    queue = self.engine.end_not_stored(error, queue.into()).into();
                }
            } else if let Some(input) = self.perform_one(effect).await {
                queue.extend(self.engine.step(input));
            }
        }
        self.engine.reuse(queue.into());
    }

    /// Performs one effect; what came of it at once is given back as an input.
    async fn perform_one(&mut self, effect: Effect) -> Option<Input> {
        match effect {
            Effect::Record(record) => return self.record(record),
            // What follows depends on it; see `perform`.
            Effect::Sync => {}
            Effect::Notify(notification) => return self.notify(&notification).await,
            // A status shows nothing that is stored.
            Effect::Broadcast(notification) => self.broadcast(&notification).await,
            Effect::Answer { reply, answer } => {
                let stored = self.flush();
                self.replies.answer(reply, answer).await;
                return self.fault_once(stored.as_ref());
            }
            Effect::Ask { question, request } => self.ask(question, request).await,
            Effect::Withdraw { question } => self.withdraw(question),
            Effect::Deliver { question, .. } => self.deliver(question),
            Effect::RunTool { turn_id, call } => self.run_tool(turn_id, call),
            Effect::RunShell {
                turn_id,
                item_id,
                command,
            } => self.run_shell(turn_id, item_id, command),
            Effect::CancelTools { turn_id } => self.tooling.cancel(&turn_id),
            Effect::StartGrace { turn_id } => self.start_grace(turn_id),
            Effect::Sample {
                sample,
                turn_id,
                purpose,
            } => self.sample(sample, &turn_id, purpose),
            Effect::CancelSample { sample } => {
                if let Some((_, task)) = self.sampling.take_if(|(running, _)| *running == sample) {
                    task.abort();
                }
            }
            Effect::RunHooks {
                run,
                turn_id,
                point,
            } => return Some(self.run_hooks(run, &turn_id, point)),
            Effect::Announce {
                turn_id,
                last_agent_message,
            } => self.announce(turn_id, last_agent_message),
            Effect::BuildContext { turn_id } => {
                let context = self.build_context(&turn_id);
                return Some(Input::Context { turn_id, context });
            }
            Effect::Summarise {
                turn_id,
                summary,
                mid_turn,
            } => {
                let compacted = self.summarise(&turn_id, &summary, mid_turn);
                return Some(Input::Compacted { turn_id, compacted });
            }
            Effect::RenderReview {
                turn_id,
                words,
                interrupted,
            } => {
                let outcome = self.render_review(words.as_deref(), interrupted);
                return Some(Input::ReviewRendered { turn_id, outcome });
            }
        }
        None
    }

    /// Tells the subscribers. What could not be stored must not be told as done; the turn ends as failed
    /// instead.
    async fn notify(&mut self, notification: &ServerNotification) -> Option<Input> {
        let stored = self.flush();
        let is_stored = stored.is_ok() && self.lost.is_none();
        if is_stored || !matches!(notification, ServerNotification::ItemCompleted(_)) {
            self.follow(notification);
            let outcome = self.outcome(notification);
            self.subscribers.hold(notification);
            if let (Some(agent), Some(outcome)) = (&self.agent, outcome) {
                self.subscribers.release().await;
                agent.tell(outcome);
            }
        }
        self.fault_once(stored.as_ref())
    }

    /// Asks the subscribers, and whoever joins before there is an answer.
    async fn ask(&mut self, question: u64, request: Box<ServerRequest>) {
        self.subscribers.ask(question, &request).await;
        if let Some(pending) = self.questions.get_mut(&question) {
            pending.request = Some(request);
        }
    }

    fn withdraw(&self, question: u64) {
        self.server
            .questions
            .withdraw(i64::try_from(question).unwrap_or(i64::MAX));
    }

    /// Gives an answer, or the news that there will be none, to the tool that asked.
    pub fn deliver(&mut self, question: u64) {
        self.withdraw(question);
        if let Some(pending) = self.questions.remove(&question) {
            // A tool that was cancelled no longer listens.
            pending.answer.send(pending.outcome).ok();
        }
    }

    /// Starts the user's program for the end of a turn, if there is one.
    fn announce(&self, turn_id: String, last_assistant_message: Option<String>) {
        let Some(argv) = self.session.snapshot.session().notify else {
            return;
        };
        let history = self.engine.own_history().iter();
        let announcement = Announcement {
            thread_id: self.handle.id.clone(),
            turn_id,
            cwd: self.session.cwd_text(),
            client: self.client.clone(),
            input_messages: history.filter_map(quipu_journal::said_by_user).collect(),
            last_assistant_message,
        };
        let env = self.server.settings.config.env().vars();
        let env = env.map(|(key, value)| (key.into(), value.into()));
        self.server
            .announcer
            .start(argv, announcement, env.collect(), self.server.cwd());
    }

    fn start_grace(&self, turn_id: String) {
        let handle = self.handle.clone();
        tokio::spawn(async move {
            tokio::time::sleep(GRACE).await;
            handle.send(Message::GraceOver { turn_id }).await;
        });
    }

    fn record(&mut self, record: Record) -> Option<Input> {
        if let Record::TurnStarted { .. } = &record {
            self.lost = None;
        } else if let Record::TurnEnded {
            end,
            last_agent_message,
            ..
        } = &record
        {
            self.ended = Some((end.clone(), last_agent_message.clone()));
        }
        let mode = self.session.mode.mode.to_string();
        let window = self.session.info.effective_context_window();
        let writing = Writing {
            thread_id: &self.handle.id,
            window,
            mode: &mode,
            full_reasoning: self.session.snapshot.session().show_raw_agent_reasoning,
            server: &self.server,
        };
        let lines = records::lines(record, &writing);
        let taken = self.log.as_mut()?.append(&lines);
        let fault = self.fault_once(taken.as_ref());
        self.lost = taken.err().or(self.lost.take());
        fault
    }

    /// Hands what was recorded between turns to the system.
    pub fn store_now(&mut self) {
        if let Err(error) = self.flush() {
            tracing::error!(thread = self.handle.id, %error, "the thread's log cannot be written");
        }
    }

    /// Hands what was recorded to the system, before anything that shows it is told.
    fn flush(&mut self) -> quipu_journal::Result<()> {
        self.log.as_mut().map_or(Ok(()), quipu_journal::Log::flush)
    }

    /// Waits until what was recorded is on disk. With it a turn ends, and what failed in it is over.
    fn sync(&mut self) -> quipu_journal::Result<()> {
        self.journal_failed = false;
        let Some(log) = &mut self.log else {
            return Ok(());
        };
        let synced = tokio::task::block_in_place(|| log.sync());
        self.lost.take().map_or(synced, Err)
    }

    /// A log that cannot be written ends the turn, once; the records wait for the next try.
    fn fault_once(&mut self, written: Result<&(), &quipu_journal::Error>) -> Option<Input> {
        let error = self.not_stored(written.err()?);
        if self.engine.active_turn().is_none() || std::mem::replace(&mut self.journal_failed, true)
        {
            return None;
        }
        Some(Input::Fault { error })
    }

    fn not_stored(&self, error: &quipu_journal::Error) -> TurnError {
        tracing::error!(thread = self.handle.id, %error, "the thread's log cannot be written");
        TurnError {
            message: format!("The thread cannot be stored: {error}"),
            codex_error_info: Some(CodexErrorInfo::Other),
            additional_details: None,
        }
    }

    async fn broadcast(&self, notification: &ServerNotification) {
        if let ServerNotification::ThreadStatusChanged(params) = notification {
            self.handle.set_status(params.status.clone());
            let unloaded = params.status == ThreadStatus::NotLoaded;
            if unloaded && self.server.stopping.load(Ordering::Relaxed) {
                return;
            }
        }
        let Some(message) = super::subscribers::encode(notification) else {
            return;
        };
        for client in self.server.hub.introduced() {
            client.deliver(notification.method(), message.clone()).await;
        }
    }

    /// How an agent is now, if its turn ends with this. The model of its parent knows it before clients do,
    /// and who waits for it after them.
    fn outcome(&mut self, notification: &ServerNotification) -> Option<CollabAgentState> {
        let is_end = matches!(notification, ServerNotification::TurnCompleted(_));
        let (end, last_words) = self.ended.take_if(|_| is_end)?;
        let outcome = agents::outcome(end, last_words);
        self.agent.as_ref()?.tell_parent(&outcome);
        Some(outcome)
    }

    /// Keeps up with the turns that clients are told of.
    fn follow(&mut self, notification: &ServerNotification) {
        self.live.follow(notification);
        self.report(notification);
        match notification {
            ServerNotification::TurnStarted(_) => {
                if let Some(agent) = &self.agent {
                    agent.tell_at_work();
                }
            }
            ServerNotification::TurnCompleted(_) => {
                self.turn.tools = None;
                self.tooling.end_turn();
            }
            _ => {}
        }
    }
}
