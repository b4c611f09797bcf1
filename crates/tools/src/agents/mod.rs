//! Agents that the model starts: threads of their own that work on a part of the task. The tools here read
//! arguments and show what happens; the threads are run by the implementation of [`Agents`].

mod close_agent;
mod input;
mod item;
mod resume_agent;
mod send_input;
mod spawn_agent;
mod wait_agent;

use std::collections::BTreeMap;

use futures_util::future::BoxFuture;
use quipu_engine::CallId;
use quipu_wire::{CollabAgentState, CollabAgentStatus, ReasoningEffort, UserInput};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::call::{Finished, Running};
use crate::scope::Scope;
pub(crate) use close_agent::CloseAgent;
pub(crate) use resume_agent::ResumeAgent;
pub(crate) use send_input::SendInput;
pub(crate) use spawn_agent::SpawnAgent;
pub(crate) use wait_agent::WaitAgent;

/// The agents that a thread started, and those that they started. What goes wrong is reported to the model.
pub trait Agents: Send + Sync {
    /// Starts an agent.
    fn spawn(&self, order: Order) -> BoxFuture<'_, Result<Spawned, String>>;

    /// Gives an agent more to do; an id of what was sent.
    fn send<'a>(
        &'a self,
        id: &'a str,
        input: Vec<UserInput>,
        interrupt: bool,
    ) -> BoxFuture<'a, Result<String, String>>;

    /// Waits until one of the agents is done, and says how those are that are done.
    fn wait<'a>(&'a self, ids: &'a [String]) -> BoxFuture<'a, BTreeMap<String, CollabAgentState>>;

    /// Ends an agent and those that it started; how it was before.
    fn close<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<CollabAgentState, String>>;

    /// Brings back an agent that was closed.
    fn resume<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), String>>;

    /// How an agent is.
    fn state(&self, id: &str) -> CollabAgentState;
}

/// A wish for an agent.
#[derive(Debug, Clone)]
pub struct Order {
    /// The call that asks for it.
    pub call_id: CallId,
    pub input: Vec<UserInput>,
    pub role: Option<String>,
    pub model: Option<String>,
    pub effort: Option<ReasoningEffort>,
    /// It is to know what the thread knows.
    pub with_context: bool,
}

/// An agent that was started.
#[derive(Debug, Clone)]
pub struct Spawned {
    pub id: String,
    pub nickname: String,
    pub model: String,
    pub effort: Option<ReasoningEffort>,
}

/// A kind of agent, as the model is told of it.
#[derive(Debug, Clone)]
pub struct Role {
    pub name: String,
    pub description: String,
}

/// What the model reads about an argument that names an agent.
const TARGET: &str = "The agent's id.";

/// Whether a turn with these settings may have agents.
fn are_offered(scope: &Scope) -> bool {
    scope.agents.is_some()
}

/// Whether a call about agents can be run.
fn accepts(run: &Running) -> bool {
    are_offered(&run.scope) && run.host.agents().is_some()
}

/// Runs one of these tools.
async fn call<'a, F>(
    run: &'a Running,
    tool: impl FnOnce(&'a Running, &'a dyn Agents) -> F,
) -> Finished
where
    F: Future<Output = Result<Value, String>>,
{
    let Some(agents) = run.host.agents() else {
        return run.unsupported();
    };
    let outcome = tool(run, agents).await;
    outcome
        .map_or_else(|error| error, |output| output.to_string())
        .into()
}

/// Whether an agent in this state does nothing more by itself.
#[must_use]
pub fn is_done(state: &CollabAgentState) -> bool {
    !matches!(
        state.status,
        CollabAgentStatus::PendingInit
            | CollabAgentStatus::Running
            | CollabAgentStatus::Interrupted
    )
}

/// A state as the model reads it.
#[must_use]
pub fn state_for_model(state: &CollabAgentState) -> Value {
    match state.status {
        CollabAgentStatus::PendingInit => json!("pending_init"),
        CollabAgentStatus::Running => json!("running"),
        CollabAgentStatus::Interrupted => json!("interrupted"),
        CollabAgentStatus::Completed => json!({ "completed": state.message }),
        CollabAgentStatus::Errored => json!({ "errored": state.message }),
        CollabAgentStatus::Shutdown => json!("shutdown"),
        CollabAgentStatus::NotFound | CollabAgentStatus::Unrecognized => json!("not_found"),
    }
}

/// Reads the id of an agent.
fn agent_id(text: &str) -> Result<String, String> {
    Uuid::parse_str(text)
        .map(|id| id.to_string())
        .map_err(|error| format!("invalid agent id {text}: {error}"))
}
