//! The task that owns one thread.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::FutureExt as _;
use quipu_engine::{Effect, Input, ModelEvent, SampleId, Thread as Engine, ThreadId};
use quipu_wire::{CodexErrorInfo, TurnError};
use tokio::sync::mpsc;

use super::agent::{self, AgentLink};
use super::audience::Audience;
use super::goal::{self, GoalKeeper};
use super::mcp;
use super::message::{Message, ThreadHandle};
use super::questions::Questions;
use super::queue::{self, QueueKeeper};
use super::realtime::{self, Realtime};
use super::recorder::Recorder;
use super::replies::Replies;
use super::reports::Reports;
use super::sampling::Sampler;
use super::session::Session;
use super::tools::Tools;
use super::verb;
use super::{continuation, hooks, idle, join, skill_servers, skills, spending, takeover};
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
    pub replies: Replies,
    pub agent: AgentLink,
    pub reports: Reports,
    pub realtime: Realtime,
    pub goal: GoalKeeper,
    pub queue: QueueKeeper,
}

/// Whether a thread goes on after a message.
pub(super) enum Flow {
    Continue,
    /// It was unloaded.
    Close,
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
            let to_answer = self.questions.time_left(&self.audience, &self.session);
            let wait = to_answer.map_or(idle, |left| left.min(idle));
            let message = match tokio::time::timeout(wait, mailbox.recv()).await {
                Ok(Some(message)) => message,
                Ok(None) => return,
                Err(_) if to_answer.is_some() => {
                    Box::pin(self.decline_unattended()).await;
                    continue;
                }
                // If others were unloaded meanwhile, this one may stay.
                Err(_) if idle < idle::patience(&self) => continue,
                Err(_) if Box::pin(idle::idle(&mut self, &mut mailbox)).await => return,
                Err(_) => continue,
            };
            let receiving = AssertUnwindSafe(Box::pin(self.receive(*message))).catch_unwind();
            match receiving.await {
                Ok(Flow::Continue) if takeover::is_over(&self) => {
                    return Box::pin(takeover::leave(&mut self)).await;
                }
                Ok(Flow::Continue) => {}
                Ok(Flow::Close) => return,
                Err(_) if self.handle.is_closing() || !Box::pin(self.recovers()).await => return,
                Err(_) => {}
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

    pub(super) async fn receive(&mut self, message: Message) -> Flow {
        fail::point("thread", message.name());
        match message {
            Message::Close { done } => {
                self.close().await;
                // The requester may have stopped waiting.
                done.send(()).ok();
                return Flow::Close;
            }
            Message::Verb(verb) => verb::perform(self, verb).await,
            Message::Unsubscribe { client, done } => join::unsubscribe(self, client, done),
            Message::Gone(client) => {
                join::leave(self, client);
            }
            Message::Goal(message) => goal::receive(self, message).await,
            Message::Queue(message) => queue::receive(self, message).await,
            Message::Rename { name } => self.audience.rename(name),
            Message::SetGit(git) => self.audience.set_git(git),
            // The requester may have stopped waiting; so for those below.
            Message::CountElicitation { delta, done } => {
                done.send(self.questions.count_elicitation(delta)).ok();
            }
            Message::CleanTerminals => self.tools.kill_processes(),
            Message::ListTerminals { done } => drop(done.send(self.tools.terminals())),
            Message::TerminateTerminal { process_id, done } => {
                done.send(self.tools.kill_process(&process_id)).ok();
            }
            Message::Snapshot { done } => drop(done.send(self.snapshot())),
            Message::OutOfTime(spent) => spending::out_of_time(self, spent).await,
            Message::Model { sample, events } => self.model_says(sample, events).await,
            Message::Tool { call_id, event } => self.tool_reports(call_id, event).await,
            Message::Toolbox(access) => self.tools.access(access),
            Message::Hooks { run, runs, done } => hooks::done(self, run, runs, done).await,
            Message::SkillServers(waiting) => skill_servers::decided(self, waiting).await,
            Message::Answered { question, outcome } => self.answered(question, outcome).await,
            Message::ReloadSettings => skills::reload_settings(self),
            Message::SkillsChanged(directories) => skills::changed(self, &directories).await,
            Message::SkillsFollowed(followed) => self.sampler.prompt_mut().keep_followed(followed),
            Message::Realtime(message) => realtime::receive(self, message).await,
            Message::Mcp(message) => mcp::receive(self, message).await,
            Message::GraceOver { turn_id } => self.step(Input::GraceOver { turn_id }).await,
            Message::Agent(message) => agent::receive(self, message).await,
            Message::WhenIdle { stop, done } => {
                self.replies.when_idle(done);
                continuation::stop(self, stop).await;
            }
            Message::GoOn(left) => continuation::go_on(self, *left).await,
        }
        self.sampler.pending_mut().shrink(&self.engine);
        self.notify_if_idle();
        queue::call(self);
        goal::call(self);
        Flow::Continue
    }

    /// Events of a request to the model.
    async fn model_says(&mut self, sample: SampleId, events: Vec<ModelEvent>) {
        for event in self.tools.hide_said(events) {
            let effects = self.engine.step(Input::Model { sample, event });
            self.perform_holding(effects).await;
        }
        self.audience.release().await;
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

    /// Whether the thread is being unloaded, or the server stopped.
    pub(super) fn is_leaving(&self) -> bool {
        self.handle.is_closing() || self.server.stopping.load(Ordering::Relaxed)
    }

    pub(super) async fn close(&mut self) {
        self.handle.set_closing();
        let is_handed_over = self.engine.is_closed();
        self.step(Input::Close).await;
        self.tools.shut_down();
        agents::close_all_of(&self.server, &self.handle).await;
        self.recorder.close();
        if is_handed_over {
            self.audience.cut();
        }
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
