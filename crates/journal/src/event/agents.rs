//! Events of threads that direct other threads.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::CallStatus;

/// An agent was spawned, or not.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CollabSpawnEnd {
    /// The call, and the item's id.
    pub call_id: String,
    /// The thread that asked.
    pub sender_thread_id: String,
    /// The new thread.
    #[serde(default)]
    pub new_thread_id: Option<String>,
    /// Its display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_agent_nickname: Option<String>,
    /// Its role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_agent_role: Option<String>,
    /// Its task.
    pub prompt: String,
    /// Its model.
    #[serde(default)]
    pub model: String,
    /// How hard it thinks.
    #[serde(default)]
    pub reasoning_effort: Option<String>,
    /// How it is.
    pub status: AgentStatus,
}

/// An agent was sent input.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CollabInteractionEnd {
    /// The call, and the item's id.
    pub call_id: String,
    /// The thread that asked.
    pub sender_thread_id: String,
    /// The agent.
    pub receiver_thread_id: String,
    /// Its display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver_agent_nickname: Option<String>,
    /// Its role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver_agent_role: Option<String>,
    /// The input.
    pub prompt: String,
    /// How it is.
    pub status: AgentStatus,
}

/// The wait for agents ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CollabWaitingEnd {
    /// The thread that waited.
    pub sender_thread_id: String,
    /// The call, and the item's id.
    pub call_id: String,
    /// The agents with their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agent_statuses: Vec<AgentStatusEntry>,
    /// How each one is.
    pub statuses: BTreeMap<String, AgentStatus>,
}

/// One agent that was waited for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AgentStatusEntry {
    /// The agent.
    pub thread_id: String,
    /// Its display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_nickname: Option<String>,
    /// Its role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_role: Option<String>,
    /// How it is.
    pub status: AgentStatus,
}

/// An agent was closed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CollabCloseEnd {
    /// The call, and the item's id.
    pub call_id: String,
    /// The thread that asked.
    pub sender_thread_id: String,
    /// The agent.
    pub receiver_thread_id: String,
    /// Its display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver_agent_nickname: Option<String>,
    /// Its role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver_agent_role: Option<String>,
    /// How it was.
    pub status: AgentStatus,
}

/// A closed agent was opened again. It has the members of a closing.
pub type CollabResumeEnd = CollabCloseEnd;

/// How an agent is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentStatus {
    /// Made, not yet started.
    PendingInit,
    /// At work.
    Running,
    /// Stopped by someone.
    Interrupted,
    /// Done, with its last words.
    Completed(Option<String>),
    /// Failed, with the reason.
    Errored(String),
    /// Closed.
    Shutdown,
    /// There is no such agent.
    NotFound,
}

/// What is asked of other agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CollabTool {
    /// A new one.
    SpawnAgent,
    /// To take input.
    SendInput,
    /// To come back.
    ResumeAgent,
    /// To be waited for.
    Wait,
    /// To end.
    CloseAgent,
}

/// A call to other agents.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CollabItem {
    /// The call.
    pub id: String,
    /// What was asked.
    pub tool: CollabTool,
    /// Whether it worked.
    pub status: CallStatus,
    /// The thread that asked.
    pub sender_thread_id: String,
    /// The agents.
    #[serde(default)]
    pub receiver_thread_ids: Vec<String>,
    /// Their names.
    #[serde(default)]
    pub receiver_agents: Vec<AgentName>,
    /// What they were told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The model of a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How hard a new one thinks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<String>,
    /// How each one is.
    #[serde(default)]
    pub agents_states: BTreeMap<String, AgentStatus>,
}

/// How an agent is called.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct AgentName {
    /// The agent.
    pub thread_id: String,
    /// Its display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_nickname: Option<String>,
    /// Its role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_role: Option<String>,
}
