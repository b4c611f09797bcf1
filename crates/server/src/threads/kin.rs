//! What passes between a thread and its agents.

use std::path::PathBuf;
use std::sync::Arc;

use quipu_engine::{Input, Start};
use quipu_wire::{Json, ThreadStatus, UserInput};
use tokio::sync::oneshot;

use super::actor::Actor;
use super::message::{Message, ThreadHandle};
use super::replies::Pending;
use super::rights::Bounds;
use super::session::Session;
use crate::agents::Agent;
use crate::hub::Client;

/// A message between relatives.
pub(crate) enum Kin {
    /// What an agent of this thread is to get from it.
    Heritage { done: oneshot::Sender<Heritage> },
    /// Input from the thread that started this one; the answer says why it was refused.
    Give {
        input: Vec<UserInput>,
        turn_id: String,
        interrupt: bool,
        done: oneshot::Sender<Result<(), String>>,
    },
    /// The thread that started this one changed its rights; this one has no more than that.
    Confine(Box<Bounds>),
    /// Something for the model to know.
    Note(Json),
    /// The thread is an agent's from now on.
    Adopt(Arc<Agent>),
    /// A client that follows the thread's parent follows it, too.
    Follow(Arc<Client>),
}

/// What a thread hands down to the agents it starts.
pub(crate) struct Heritage {
    pub session: Session,
    /// Those who follow it, and will follow its agents.
    pub followers: Vec<Arc<Client>>,
    /// How many agents are above its agents.
    pub depth: i32,
    pub is_ephemeral: bool,
    /// Its rollout, if it is on disk; complete.
    pub rollout: Option<PathBuf>,
}

impl ThreadHandle {
    /// What agents of the thread get from it; `None` if it is gone.
    pub async fn heritage(&self) -> Option<Heritage> {
        let (done, heritage) = oneshot::channel();
        self.send(Message::Kin(Kin::Heritage { done })).await;
        heritage.await.ok()
    }

    /// Gives the thread input of its parent; `None` if it is gone.
    pub async fn give(
        &self,
        input: Vec<UserInput>,
        turn_id: String,
        interrupt: bool,
    ) -> Option<Result<(), String>> {
        let (done, given) = oneshot::channel();
        let give = Kin::Give {
            input,
            turn_id,
            interrupt,
            done,
        };
        self.send(Message::Kin(give)).await;
        given.await.ok()
    }
}

impl Actor {
    pub async fn kin(&mut self, message: Kin) {
        match message {
            Kin::Heritage { done } => {
                // Whoever asked may have stopped waiting.
                done.send(self.heritage()).ok();
            }
            Kin::Give {
                input,
                turn_id,
                interrupt,
                done,
            } => {
                let ready = self.load_history();
                if let Err(error) = ready.and_then(|()| self.recorder.reserve()) {
                    done.send(Err(error.message)).ok();
                    return;
                }
                if interrupt {
                    self.step(Input::Interrupt { reply: None }).await;
                }
                self.prepare_turn(None).await;
                let message = self.user_message(input);
                let reply = self.replies.add(Pending::Given(done));
                let start = Start {
                    reply,
                    turn_id,
                    message,
                };
                self.step(Input::Start(start)).await;
            }
            Kin::Confine(bounds) => self.confine(*bounds),
            Kin::Note(note) => {
                if let Err(error) = self.load_history() {
                    tracing::error!(thread = self.handle.id, %error, "a note for the model is lost");
                    return;
                }
                self.step(Input::Note(note)).await;
                self.recorder.flush_idle();
            }
            Kin::Adopt(agent) => {
                if matches!(self.engine.status(), ThreadStatus::Active { .. }) {
                    agent.tell_at_work();
                }
                self.agent = Some(agent);
            }
            Kin::Follow(client) => self.follow_with(client).await,
        }
    }

    fn heritage(&mut self) -> Heritage {
        let look = self.look();
        let mut session = self.session.clone();
        session.base_instructions = Some(self.told.base_instructions.to_string());
        Heritage {
            session,
            followers: self.audience.all(),
            depth: self.audience.agent_depth(),
            is_ephemeral: look.ephemeral,
            rollout: look.rollout,
        }
    }

    /// A client gets the questions that still wait, then everything that happens.
    pub async fn follow_with(&mut self, client: Arc<Client>) {
        if self.audience.has(client.id) {
            return;
        }
        self.ask_again(&client).await;
        self.audience.add(client);
    }

    /// Lets a client follow the thread's agents, too.
    pub fn introduce_to_agents(&self, client: &Arc<Client>) {
        for agent in self.server.agents.of(&self.handle.id) {
            if let Some(thread) = agent.thread() {
                thread.send_soon(Message::Kin(Kin::Follow(Arc::clone(client))));
            }
        }
    }
}
