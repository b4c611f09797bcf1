//! The task that owns one thread.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use quipu_engine::{Effect, Input, Thread as Engine, TurnEnd};
use quipu_model::{Client as ModelClient, HistoryItem, TurnState};
use quipu_rpc::Share;
use quipu_wire::{CodexErrorInfo, ThreadUnsubscribeStatus, TurnError};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::audience::Audience;
use super::hooks::ThreadHooks;
use super::mask::Mask;
use super::mcp::Servers;
use super::message::{Message, ThreadHandle, ToolReport};
use super::questions::Questions;
use super::recorder::Recorder;
use super::replies::Replies;
use super::session::Session;
use super::tooling::Tooling;
use crate::Server;
use crate::agents::{self, Agent};
use crate::fail;
use crate::hub::ClientId;

/// Messages that may wait for a thread.
const MAILBOX: usize = 256;

/// Everything a thread consists of while it is loaded.
pub(super) struct Actor {
    pub server: Arc<Server>,
    pub handle: ThreadHandle,
    pub engine: Engine,
    pub session: Session,
    pub audience: Audience,
    pub recorder: Recorder,
    pub questions: Questions,
    pub replies: Replies,
    pub model: ModelClient,
    /// What the model was last told of the settings.
    pub told: super::turn_context::Told,
    /// The history as the model crate holds it, so that only what is new is converted.
    pub sent: Vec<HistoryItem>,
    pub turn: TurnSettings,
    pub sampling: Option<(u64, JoinHandle<()>)>,
    pub tooling: Tooling,
    pub hooks: ThreadHooks,
    /// The client whose thread it is, by name; agents have none.
    pub client: Option<String>,
    pub servers: Servers,
    pub mask: Mask,
    /// What makes it an agent, if it is one.
    pub agent: Option<Arc<Agent>>,
    /// How the last turn ended, and the agent's last words in it.
    pub ended: Option<(TurnEnd, Option<String>)>,
    pub reports: super::reports::Reports,
    pub quiet: Vec<oneshot::Sender<()>>,
    /// What the input that waits for the model takes of what all threads may hold.
    pub pending: Option<Share>,
}

/// What holds for one turn only.
#[derive(Default)]
pub(super) struct TurnSettings {
    pub output_schema: Option<quipu_wire::Json>,
    /// The tools offered, kept for the requests of the turn.
    pub tools: Option<quipu_model::ToolSet>,
    /// The model was last asked as a reviewer, who may not ask the user anything.
    pub reviewing: bool,
    /// A token of the provider that the requests of one turn share.
    pub state: TurnState,
}

/// A mailbox for a thread, and the handle to it.
pub(super) fn mailbox(
    id: String,
    opener: Option<ClientId>,
) -> (ThreadHandle, mpsc::Receiver<Box<Message>>) {
    let (sender, receiver) = mpsc::channel(MAILBOX);
    (ThreadHandle::new(id, sender, opener), receiver)
}

impl Actor {
    /// Runs the thread until it is unloaded. What it does is boxed, so that a thread that waits is small.
    pub async fn run(mut self: Box<Self>, mut mailbox: mpsc::Receiver<Box<Message>>) {
        self.follow_skills(false);
        self.report_start();
        loop {
            let idle = self.server.settings.idle;
            let wait = self.time_to_answer().map_or(idle, |left| left.min(idle));
            let message = match tokio::time::timeout(wait, mailbox.recv()).await {
                Ok(Some(message)) => message,
                Ok(None) => return,
                Err(_) if self.time_to_answer().is_some() => {
                    Box::pin(self.decline_unattended()).await;
                    continue;
                }
                Err(_) if Box::pin(self.idle(&mut mailbox)).await => return,
                Err(_) => continue,
            };
            if let Message::Close { done } = *message {
                Box::pin(self.close()).await;
                // Whoever asked may have stopped waiting.
                done.send(()).ok();
                return;
            }
            let receiving = AssertUnwindSafe(Box::pin(self.receive(*message))).catch_unwind();
            if receiving.await.is_err() && !Box::pin(self.survives()).await {
                return;
            }
        }
    }

    /// After a defect of our own: the running turn ends as failed and the thread goes on. `false` if not
    /// even that works; then the thread is unloaded, and its turn closed when it is loaded again.
    async fn survives(&mut self) -> bool {
        tracing::error!(
            thread = self.handle.id,
            "a turn failed by a defect of the server"
        );
        let error = TurnError {
            message: "The turn failed by a defect of the server.".to_owned(),
            codex_error_info: Some(CodexErrorInfo::InternalServerError),
            additional_details: None,
        };
        let ending = AssertUnwindSafe(self.step(Input::Fault { error })).catch_unwind();
        if ending.await.is_err() {
            return false;
        }
        self.replies.fail().await;
        self.tell_quiet();
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
                client,
                reply,
            } => self.start_turn(*params, client, reply).await,
            Message::Steer { params, reply } => self.steer(params, reply).await,
            Message::Interrupt { reply } => {
                let reply = self.replies.add(super::replies::Pending::Interrupt(reply));
                self.step(Input::Interrupt { reply: Some(reply) }).await;
            }
            Message::Compact { reply } => self.compact(reply).await,
            Message::Shell { command, reply } => self.shell(command, reply).await,
            Message::Review {
                params,
                merge_base,
                reply,
            } => self.review(params, merge_base.as_deref(), reply).await,
            Message::Join { client, reply } => self.join(client, reply).await,
            Message::Unsubscribe { client, done } => self.unsubscribe(client, done),
            Message::Gone(client) => {
                self.remove(client);
            }
            Message::Rollback { turns, reply } => self.rollback(turns, reply).await,
            Message::Rename { name } => self.audience.rename(name),
            Message::CountElicitation { delta, done } => {
                done.send(self.questions.count_elicitation(delta)).ok();
            }
            Message::CleanTerminals => self.tooling.kill_processes(),
            Message::Look { done } => {
                // Whoever asked may have stopped waiting.
                done.send(self.look()).ok();
            }
            Message::Model { sample, events } => {
                let said = events.into_iter();
                let said: Vec<_> = said.flat_map(|it| self.mask.hide_said(it)).collect();
                for event in said {
                    let effects = self.engine.step(Input::Model { sample, event });
                    self.perform_holding(effects).await;
                }
                self.audience.release().await;
            }
            Message::Tool { call_id, event } => self.tool(call_id, event).await,
            Message::Hooks { run, runs, done } => self.hooks_done(run, runs, done).await,
            Message::Answered { question, outcome } => self.answered(question, outcome).await,
            Message::ReloadSettings => self.reload_settings(),
            Message::SkillsChanged(folders) => self.skills_changed(&folders).await,
            Message::SkillsFollowed(followed) => self.told.skills.followed = Some(followed),
            Message::Mcp(message) => self.mcp(message).await,
            Message::GraceOver { turn_id } => self.step(Input::GraceOver { turn_id }).await,
            Message::Kin(message) => self.kin(message).await,
            Message::WhenQuiet { interrupt, done } => {
                self.quiet.push(done);
                if interrupt {
                    self.step(Input::Interrupt { reply: None }).await;
                }
            }
            Message::Close { .. } => {}
        }
        self.give_back_pending();
        self.tell_quiet();
    }

    /// Tells those who wait for it that no turn runs.
    fn tell_quiet(&mut self) {
        if self.engine.active_turn().is_none() {
            for done in self.quiet.drain(..) {
                done.send(()).ok();
            }
        }
    }

    async fn tool(&mut self, call_id: String, event: ToolReport) {
        match event {
            ToolReport::Event(event) => {
                if matches!(event, quipu_engine::ToolEvent::Finished { .. }) {
                    self.report_result(&call_id);
                }
                self.mask.learn_printed(&self.server);
                for event in self.mask.hide(&call_id, event) {
                    let call_id = call_id.clone();
                    self.step(Input::Tool { call_id, event }).await;
                }
            }
            ToolReport::Decided { decision } => self.report_decision(&call_id, &decision),
            ToolReport::Ask {
                request,
                waiting,
                answer,
            } => self.tool_asks(call_id, request, waiting, answer).await,
            ToolReport::Review { action, case } => {
                let ready = self.approval_case(&action.planned);
                let target = action.target.unwrap_or_else(|| call_id.clone());
                let action = action.shown;
                let event = quipu_engine::ToolEvent::ApprovalReviewStarted { target, action };
                self.step(Input::Tool { call_id, event }).await;
                if let Some(ready) = ready {
                    // A tool that was cancelled no longer listens.
                    case.send(ready).ok();
                }
            }
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

    /// Lets a client go; tells whether it was the last one.
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
        done.send((status, was && self.audience.is_empty())).ok();
    }

    /// Removes a client; `false` if it did not follow the thread.
    fn remove(&mut self, client: ClientId) -> bool {
        let was = self.audience.remove(client);
        if self.audience.is_empty() {
            self.questions.forget_elicitations();
        }
        was
    }

    pub(super) async fn close(&mut self) {
        self.step(Input::Close).await;
        self.tooling.shut_down();
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
