//! Agents: what a thread passes on to the agents that it starts, and what passes between them.

use std::path::PathBuf;
use std::sync::Arc;

use quipu_engine::{Input, Start, TurnEnd, TurnId};
use quipu_wire::{CollabAgentState, Json, ThreadStatus, UserInput};
use tokio::sync::oneshot;

use super::actor::Actor;
use super::message::{Message, ThreadHandle};
use super::replies::Pending;
use super::rights::{self, Bounds};
use super::session::Session;
use super::{join, turn_start};
use crate::Server;
use crate::agents::{self, Agent};
use crate::hub::Client;

/// A message between a thread and its agents.
pub(crate) enum AgentMessage {
    /// What an agent of this thread is to inherit from it.
    Inherit {
        done: oneshot::Sender<InheritedSettings>,
    },
    /// Input from the thread that started this one; the answer says why it was refused.
    Input {
        input: Vec<UserInput>,
        turn_id: TurnId,
        interrupt: bool,
        done: oneshot::Sender<Result<(), String>>,
    },
    /// The thread that started this one changed its rights; this one has no more than that.
    Confine(Box<Bounds>),
    /// Something for the model to know.
    Note(Json),
    /// The thread is an agent's from now on.
    Adopt(Arc<Agent>),
    /// A client that follows the parent of the thread follows it, too.
    Follow(Arc<Client>),
}

/// What a thread passes on to the agents it starts.
pub(crate) struct InheritedSettings {
    pub session: Session,
    /// The clients that follow it, and will follow its agents.
    pub followers: Vec<Arc<Client>>,
    /// How many agents are above its agents.
    pub depth: i32,
    pub is_ephemeral: bool,
    /// Its rollout, if it is on disk; complete.
    pub rollout: Option<PathBuf>,
}

impl ThreadHandle {
    /// What agents of the thread inherit from it; `None` if it is gone.
    pub async fn inherited_settings(&self) -> Option<InheritedSettings> {
        let (done, inherited) = oneshot::channel();
        let inherit = AgentMessage::Inherit { done };
        self.send(Message::Agent(inherit)).await;
        inherited.await.ok()
    }

    /// Gives the thread input of its parent; `None` if it is gone.
    pub async fn agent_input(
        &self,
        input: Vec<UserInput>,
        turn_id: TurnId,
        interrupt: bool,
    ) -> Option<Result<(), String>> {
        let (done, taken) = oneshot::channel();
        let input = AgentMessage::Input {
            input,
            turn_id,
            interrupt,
            done,
        };
        self.send(Message::Agent(input)).await;
        taken.await.ok()
    }
}

/// The agent that a thread belongs to, if it does.
pub(super) struct AgentLink {
    agent: Option<Arc<Agent>>,
    /// How the last turn ended, and the last message in it.
    ended: Option<(TurnEnd, Option<String>)>,
}

impl AgentLink {
    pub fn new(agent: Option<Arc<Agent>>) -> AgentLink {
        AgentLink { agent, ended: None }
    }

    pub fn is_agent(&self) -> bool {
        self.agent.is_some()
    }

    fn adopt(&mut self, agent: Arc<Agent>, is_running: bool) {
        if is_running {
            agent.set_running();
        }
        self.agent = Some(agent);
    }

    /// A turn is recorded as ended; clients are not notified yet.
    pub fn turn_ended(&mut self, end: TurnEnd, last_message: Option<String>) {
        self.ended = Some((end, last_message));
    }

    pub fn turn_started(&self) {
        if let Some(agent) = &self.agent {
            agent.set_running();
        }
    }

    /// The state of the agent after the turn that ended, which its parent's model knows before clients do.
    pub fn outcome(&mut self) -> Option<CollabAgentState> {
        let (end, last_message) = self.ended.take()?;
        let outcome = agents::outcome(end, last_message);
        self.agent.as_ref()?.note_to_parent(&outcome);
        Some(outcome)
    }

    /// Notifies those that wait for the agent, after clients were.
    pub fn set_state(&self, state: CollabAgentState) {
        if let Some(agent) = &self.agent {
            agent.set_state(state);
        }
    }
}

/// Deals with a message of another thread.
pub(super) async fn receive(actor: &mut Actor, message: AgentMessage) {
    match message {
        AgentMessage::Inherit { done } => {
            // The agent's host may have stopped waiting.
            done.send(inherited_settings(actor)).ok();
        }
        AgentMessage::Input {
            input,
            turn_id,
            interrupt,
            done,
        } => {
            let ready = actor.load_history();
            if let Err(error) = ready.and_then(|()| actor.recorder.reserve()) {
                // The agent's host may have stopped waiting.
                done.send(Err(error.to_string())).ok();
                return;
            }
            if interrupt {
                actor.step(Input::Interrupt { reply: None }).await;
            }
            turn_start::prepare(actor, None).await;
            let message = actor.sampler.user_message(&actor.handle.id, input);
            let reply = actor.replies.add(Pending::AgentInput(done));
            let start = Start {
                reply,
                turn_id,
                message,
            };
            actor.step(Input::Start(start)).await;
        }
        AgentMessage::Confine(bounds) => rights::confine(actor, *bounds),
        AgentMessage::Note(note) => {
            if let Err(error) = actor.load_history() {
                tracing::error!(thread = %actor.handle.id, %error, "note for the model lost");
                return;
            }
            actor.step(Input::Note(note)).await;
            actor.recorder.flush_idle();
        }
        AgentMessage::Adopt(agent) => {
            let is_running = matches!(actor.engine.status(), ThreadStatus::Active { .. });
            actor.agent.adopt(agent, is_running);
        }
        AgentMessage::Follow(client) => join::add_follower(actor, client).await,
    }
}

fn inherited_settings(actor: &mut Actor) -> InheritedSettings {
    let snapshot = actor.snapshot();
    let mut session = actor.session.clone();
    session.base_instructions = Some(actor.sampler.prompt().base_instructions().to_string());
    InheritedSettings {
        session,
        followers: actor.audience.all(),
        depth: actor.audience.agent_depth(),
        is_ephemeral: snapshot.ephemeral,
        rollout: snapshot.rollout,
    }
}

/// Lets a client follow the agents of a thread, too.
pub(super) fn introduce(server: &Server, parent: &ThreadHandle, client: &Arc<Client>) {
    for agent in server.agents.of(&parent.id) {
        if let Some(thread) = agent.thread() {
            let follow = AgentMessage::Follow(Arc::clone(client));
            thread.send_soon(Message::Agent(follow));
        }
    }
}
