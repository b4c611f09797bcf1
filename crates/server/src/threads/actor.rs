//! The task that owns one thread.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::FutureExt as _;
use quipu_engine::{Effect, Input, Thread as Engine, ThreadId};
use quipu_rpc::Share;
use quipu_wire::{CodexErrorInfo, ThreadUnsubscribeStatus, TurnError};
use tokio::sync::{mpsc, oneshot};

use super::agent::AgentLink;
use super::audience::Audience;
use super::goal::{self, GoalKeeper};
use super::hooks::ThreadHooks;
use super::inject;
use super::message::{Message, ThreadHandle};
use super::questions::Questions;
use super::queue::{self, QueueKeeper};
use super::realtime::{self, Realtime};
use super::recorder::Recorder;
use super::replies::Replies;
use super::reports::Reports;
use super::revert;
use super::sampling::Sampler;
use super::session::Session;
use super::settings_update;
use super::tools::Tools;
use super::{idle, skill_servers, skills};
use crate::Server;
use crate::agents;
use crate::fail;
use crate::hub::ClientId;

/// Messages that may wait for a thread.
const MAILBOX: usize = 256;

/// Everything a thread consists of while it is loaded. The engine decides; the others own what effects are about.
pub(super) struct Actor {
    pub server: Arc<Server>,
    pub handle: ThreadHandle,
    pub engine: Engine,
    pub session: Session,
    pub audience: Audience,
    pub recorder: Recorder,
    pub questions: Questions,
    pub sampler: Sampler,
    pub tools: Tools,
    pub hooks: ThreadHooks,
    pub replies: Replies,
    pub agent: AgentLink,
    pub reports: Reports,
    pub realtime: Realtime,
    pub goal: GoalKeeper,
    pub queue: QueueKeeper,
    /// The thread is being unloaded.
    pub is_closing: bool,
    /// The name of the client whose thread it is; agents have none.
    pub client_name: Option<String>,
    /// The share of the input that waits for the model in what all threads may hold.
    pub pending_input: Option<Share>,
}

/// A mailbox for a thread, and the handle to it.
pub(super) fn mailbox(
    id: ThreadId,
    opener: Option<ClientId>,
) -> (ThreadHandle, mpsc::Receiver<Box<Message>>) {
    let (sender, receiver) = mpsc::channel(MAILBOX);
    (ThreadHandle::new(id, sender, opener), receiver)
}

impl Actor {
    /// Runs the thread until it is unloaded. What it does is boxed, so that a thread that waits is small.
    pub async fn run(mut self: Box<Self>, mut mailbox: mpsc::Receiver<Box<Message>>) {
        skills::follow(&self, false);
        self.reports.start(&self.server, &self.session);
        queue::call(&mut self);
        goal::call(&mut self);
        loop {
            let idle = idle::patience(&self);
            let wait = self.time_to_answer().map_or(idle, |left| left.min(idle));
            let message = match tokio::time::timeout(wait, mailbox.recv()).await {
                Ok(Some(message)) => message,
                Ok(None) => return,
                Err(_) if self.time_to_answer().is_some() => {
                    Box::pin(self.decline_unattended()).await;
                    continue;
                }
                // If others were unloaded meanwhile, this one may stay.
                Err(_) if idle < idle::patience(&self) => continue,
                Err(_) if Box::pin(self.idle(&mut mailbox)).await => return,
                Err(_) => continue,
            };
            if let Message::Close { done } = *message {
                Box::pin(self.close()).await;
                // The requester may have stopped waiting.
                done.send(()).ok();
                return;
            }
            let receiving = AssertUnwindSafe(Box::pin(self.receive(*message))).catch_unwind();
            if receiving.await.is_err() && !Box::pin(self.recovers()).await {
                return;
            }
        }
    }

    /// After a panic: the running turn ends as failed and the thread goes on. `false` if not even that works; then
    /// the thread is unloaded, and its turn closed when it is loaded again.
    async fn recovers(&mut self) -> bool {
        tracing::error!(thread = %self.handle.id, "turn panicked");
        let error = TurnError {
            message: "The turn failed because of a bug in the server.".to_owned(),
            codex_error_info: Some(CodexErrorInfo::InternalServerError),
            additional_details: None,
        };
        let ending = AssertUnwindSafe(self.step(Input::Fault { error })).catch_unwind();
        if ending.await.is_err() {
            return false;
        }
        self.replies.fail().await;
        self.notify_if_idle();
        true
    }

    pub(super) async fn receive(&mut self, message: Message) {
        fail::point("thread", message.name());
        if message.needs_history()
            && let Err(error) = self.load_history()
        {
            return message.refuse(error).await;
        }
        match message {
            Message::StartTurn {
                params,
                client_name,
                reply,
            } => self.start_turn(*params, client_name, reply).await,
            Message::Steer { params, reply } => self.steer(params, reply).await,
            Message::Interrupt { turn_id, reply } => {
                let engine = &self.engine;
                let active = engine.active_turn().map(|it| it.as_str());
                let active = active.filter(|_| !engine.has_waiting_turn(&turn_id));
                if let Some(reply) = self.replies.interrupt(&turn_id, active, reply).await {
                    self.step(Input::Interrupt { reply: Some(reply) }).await;
                }
            }
            Message::Compact { reply } => self.compact(reply).await,
            Message::Shell { command, reply } => self.shell(command, reply).await,
            Message::Review {
                params,
                merge_base,
                reply,
            } => self.review(params, merge_base.as_deref(), reply).await,
            Message::Join {
                client,
                exclude_turns,
                reply,
            } => self.join(client, exclude_turns, reply).await,
            Message::Unsubscribe { client, done } => self.unsubscribe(client, done),
            Message::Gone(client) => {
                self.remove(client);
            }
            Message::Rollback { turns, reply } => self.rollback(turns, reply).await,
            Message::Revert { before, reply } => revert::revert(self, before, reply).await,
            Message::Inject { items, reply } => inject::inject(self, items, reply).await,
            Message::UpdateSettings { params, reply } => {
                settings_update::update(self, *params, reply).await;
            }
            Message::Goal(message) => goal::receive(self, message).await,
            Message::Queue(message) => queue::receive(self, message).await,
            report => self.receive_report(report).await,
        }
        self.give_back_pending();
        self.notify_if_idle();
        queue::call(self);
        goal::call(self);
    }

    /// What is no request of a client about turns: news of what runs, and facts about the thread.
    async fn receive_report(&mut self, message: Message) {
        match message {
            Message::Rename { name } => self.audience.rename(name),
            Message::SetGit(git) => self.audience.set_git(git),
            Message::CountElicitation { delta, done } => {
                // The requester may have stopped waiting.
                done.send(self.questions.count_elicitation(delta)).ok();
            }
            Message::CleanTerminals => self.tools.kill_processes(),
            // The requester may have stopped waiting; so for the next one.
            Message::ListTerminals { done } => drop(done.send(self.tools.terminals())),
            Message::TerminateTerminal { process_id, done } => {
                done.send(self.tools.kill_process(&process_id)).ok();
            }
            // The requester may have stopped waiting.
            Message::Snapshot { done } => drop(done.send(self.snapshot())),
            Message::OutOfTime(spent) => self.out_of_time(spent).await,
            Message::Model { sample, events } => {
                for event in self.tools.hide_said(events) {
                    let effects = self.engine.step(Input::Model { sample, event });
                    self.perform_holding(effects).await;
                }
                self.audience.release().await;
            }
            Message::Tool { call_id, event } => self.tool_reports(call_id, event).await,
            Message::Toolbox(access) => self.tools.access(access),
            Message::Hooks { run, runs, done } => self.hooks_done(run, runs, done).await,
            Message::SkillServers(waiting) => skill_servers::decided(self, waiting).await,
            Message::Answered { question, outcome } => self.answered(question, outcome).await,
            Message::ReloadSettings => self.reload_settings(),
            Message::SkillsChanged(directories) => self.skills_changed(&directories).await,
            Message::SkillsFollowed(followed) => self.keep_followed(followed),
            Message::Realtime(message) => realtime::receive(self, message).await,
            Message::Mcp(message) => self.mcp(message).await,
            Message::GraceOver { turn_id } => self.step(Input::GraceOver { turn_id }).await,
            Message::Agent(message) => self.agent_message(message).await,
            Message::WhenIdle { interrupt, done } => {
                self.replies.when_idle(done);
                if interrupt {
                    self.step(Input::Interrupt { reply: None }).await;
                }
            }
            // The end is not received, and requests about turns were.
            _ => {}
        }
    }

    /// Notifies those that wait for it that no turn runs.
    fn notify_if_idle(&mut self) {
        if self.engine.active_turn().is_none() {
            self.replies.notify_idle();
        }
    }

    /// Gives the engine an input and does what it says; failures of the log come back as a fault.
    pub async fn step(&mut self, input: Input) {
        let effects = self.engine_step(input);
        self.perform(effects).await;
    }

    /// Gives the engine an input of a client.
    pub fn engine_step(&mut self, input: Input) -> Vec<Effect> {
        fail::point("engine", verb(&input));
        self.engine.step(input)
    }

    /// Removes a client; the answer says whether it was the last one.
    fn unsubscribe(
        &mut self,
        client: ClientId,
        done: oneshot::Sender<(ThreadUnsubscribeStatus, bool)>,
    ) {
        let was = self.remove(client);
        let status = match was {
            true => ThreadUnsubscribeStatus::Unsubscribed,
            false => ThreadUnsubscribeStatus::NotSubscribed,
        };
        // The requester may have stopped waiting.
        done.send((status, was && self.audience.is_empty())).ok();
    }

    /// Removes a client; `false` if it did not follow the thread.
    fn remove(&mut self, client: ClientId) -> bool {
        let was = self.audience.remove(client);
        if self.audience.is_empty() {
            self.questions.forget_elicitations();
            self.realtime.stop();
        }
        was
    }

    /// Whether the thread is being unloaded, or the server stopped.
    pub(super) fn is_leaving(&self) -> bool {
        self.is_closing || self.server.stopping.load(Ordering::Relaxed)
    }

    pub(super) async fn close(&mut self) {
        self.is_closing = true;
        self.step(Input::Close).await;
        self.tools.shut_down();
        agents::close_all_of(&self.server, &self.handle).await;
        self.recorder.close();
    }
}

/// The request behind an input, as fail points name it.
fn verb(input: &Input) -> &'static str {
    match input {
        Input::Start(_) => "turn/start",
        Input::Steer { .. } => "turn/steer",
        Input::Interrupt { .. } => "turn/interrupt",
        Input::Compact { .. } => "thread/compact/start",
        Input::Review(_) => "review/start",
        Input::Shell(_) => "thread/shellCommand",
        _ => "other",
    }
}
