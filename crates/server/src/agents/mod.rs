//! Agents: threads that the model of another thread started. Each is a thread like any other; here is what
//! makes it an agent: its parent, its name, its state, and that it ends with its parent.

mod host;
mod names;
mod roles;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use futures_util::future;
use parking_lot::Mutex;
use quipu_engine::{ThreadId, TurnEnd};
use quipu_tools::agents::{is_done, state_for_model};
use quipu_wire::{CollabAgentState, CollabAgentStatus, Json};
use tokio::sync::watch;
use uuid::Uuid;

use crate::Server;
use crate::threads::{AgentMessage, Message, ThreadHandle};
pub(crate) use host::AgentHost;
use quipu_prompt::notes;
pub(crate) use roles::offered as offered_roles;

/// An agent as long as its thread is loaded.
pub(crate) struct Agent {
    pub id: ThreadId,
    pub nickname: String,
    role: Option<String>,
    /// The thread that started it.
    parent: ThreadHandle,
    /// The thread above all, for which the number of agents is limited.
    root: ThreadId,
    thread: OnceLock<ThreadHandle>,
    state: watch::Sender<CollabAgentState>,
    /// Its parent still gets a note when it is done.
    is_awaited: AtomicBool,
}

impl Agent {
    /// Its thread, once there is one.
    pub fn thread(&self) -> Option<&ThreadHandle> {
        self.thread.get()
    }

    pub fn state(&self) -> CollabAgentState {
        self.state.borrow().clone()
    }

    /// Waits until it does nothing more by itself.
    async fn done(&self) {
        // The sender lives as long as `self`, so waiting cannot fail.
        self.state.subscribe().wait_for(is_done).await.ok();
    }

    /// Leaves a note for the model of its parent that it is done; once, until it is resumed.
    pub fn note_to_parent(&self, outcome: &CollabAgentState) {
        if is_done(outcome) && self.is_awaited.swap(false, Ordering::Relaxed) {
            let status = Json::from(state_for_model(outcome));
            let note = notes::subagent_notification(&self.id, &status);
            self.parent
                .send_now(Message::Agent(AgentMessage::Note(note)));
        }
    }

    /// Changes its state; its parent's model knows first.
    pub fn set_state(&self, state: CollabAgentState) {
        self.note_to_parent(&state);
        self.state.send_replace(state);
    }

    pub fn set_running(&self) {
        self.set_state(state(CollabAgentStatus::Running));
    }
}

/// A state without a message.
fn state(status: CollabAgentStatus) -> CollabAgentState {
    CollabAgentState {
        status,
        message: None,
    }
}

/// The state of an agent after a turn that ended like this.
pub(crate) fn outcome(end: TurnEnd, last_message: Option<String>) -> CollabAgentState {
    match end {
        TurnEnd::Completed => CollabAgentState {
            status: CollabAgentStatus::Completed,
            message: last_message,
        },
        TurnEnd::Failed(error) => CollabAgentState {
            status: CollabAgentStatus::Errored,
            message: Some(error.message),
        },
        TurnEnd::Interrupted | TurnEnd::Replaced => state(CollabAgentStatus::Interrupted),
    }
}

/// The agents of all threads, by their ids.
#[derive(Default)]
pub(crate) struct Agents(Mutex<BTreeMap<ThreadId, Arc<Agent>>>);

impl Agents {
    pub fn get(&self, id: &str) -> Option<Arc<Agent>> {
        self.0.lock().get(id).cloned()
    }

    /// The agents that a thread started.
    pub fn of(&self, parent: &str) -> Vec<Arc<Agent>> {
        let agents = self.0.lock();
        let own = agents.values().filter(|agent| agent.parent.id == *parent);
        own.cloned().collect()
    }

    /// An agent that a thread started, or that one of its agents did. It has no access to others.
    pub fn below(&self, ancestor: &str, id: &str) -> Option<Arc<Agent>> {
        let agents = self.0.lock();
        let found = agents.get(id)?;
        let mut above = found;
        while above.parent.id != *ancestor {
            above = agents.get(&above.parent.id)?;
        }
        Some(Arc::clone(found))
    }

    /// Whether an agent of this thread works.
    pub fn any_running(&self, parent: &str) -> bool {
        let running = |agent: &Arc<Agent>| agent.state().status == CollabAgentStatus::Running;
        self.of(parent).iter().any(running)
    }

    /// Registers an agent that has no thread yet, unless the limit is reached.
    fn register(
        &self,
        parent: &ThreadHandle,
        id: ThreadId,
        name: Name<'_>,
        role: Option<String>,
        limit: usize,
    ) -> Result<Reservation<'_>, String> {
        let mut agents = self.0.lock();
        let above = agents.get(&parent.id);
        let root = above.map_or_else(|| parent.id.clone(), |above| above.root.clone());
        let related: Vec<&str> = agents
            .values()
            .filter(|agent| agent.root == root)
            .map(|agent| agent.nickname.as_str())
            .collect();
        if related.len() >= limit {
            return Err(format!("agent thread limit reached (max {limit})"));
        }
        let nickname = match name {
            Name::Known(name) => name,
            Name::OneOf(candidates) => names::pick(candidates, &related),
        };
        let agent = Arc::new(Agent {
            id: id.clone(),
            nickname,
            role,
            parent: parent.clone(),
            root,
            thread: OnceLock::new(),
            state: watch::Sender::new(state(CollabAgentStatus::PendingInit)),
            is_awaited: AtomicBool::new(true),
        });
        agents.insert(id, Arc::clone(&agent));
        Ok(Reservation {
            agents: self,
            agent,
        })
    }

    /// Its thread is no longer loaded.
    pub fn left(&self, id: &str) {
        let left = self.0.lock().remove(id);
        if let Some(agent) = left {
            agent.set_state(state(CollabAgentStatus::Shutdown));
        }
    }
}

/// Ends an agent and its thread, which ends those that it started.
pub(crate) async fn close(server: &Server, agent: &Agent) {
    if let Some(thread) = agent.thread() {
        thread.close().await;
        server.threads.remove(thread);
    }
    server.agents.left(&agent.id);
}

/// Ends the agents of a thread that ends.
pub(crate) async fn close_all_of(server: &Server, parent: &ThreadHandle) {
    parent.set_closing();
    let agents = server.agents.of(&parent.id);
    future::join_all(agents.iter().map(|agent| close(server, agent))).await;
}

/// The name of an agent and its role, whether or not it is loaded.
pub(crate) fn named(server: &Server, id: &str) -> (Option<String>, Option<String>) {
    if let Some(agent) = server.agents.get(id) {
        return (Some(agent.nickname.clone()), agent.role.clone());
    }
    let id = Uuid::parse_str(id).ok();
    let stored = id.and_then(|id| {
        let summary = tokio::task::block_in_place(|| server.store.summary(id));
        summary.ok().flatten()
    });
    stored.map_or((None, None), |it| (it.agent_nickname, it.agent_role))
}

/// The name of an agent.
enum Name<'a> {
    Known(String),
    OneOf(&'a [String]),
}

/// An agent that is registered; no longer once this is dropped, unless its thread took it.
struct Reservation<'a> {
    agents: &'a Agents,
    agent: Arc<Agent>,
}

impl Reservation<'_> {
    /// The agent has its thread now. A parent that has begun to end takes no new ones.
    fn take(self, thread: ThreadHandle) -> Result<Arc<Agent>, String> {
        self.agent.thread.get_or_init(|| thread);
        match self.agent.parent.is_closing() {
            true => Err("the thread is being unloaded".to_owned()),
            false => Ok(Arc::clone(&self.agent)),
        }
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        if self.agent.thread.get().is_none() {
            self.agents.0.lock().remove(&self.agent.id);
        }
    }
}
