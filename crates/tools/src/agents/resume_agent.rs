//! `resume_agent`: an agent that was closed comes back, with all that it knew.

use std::collections::BTreeMap;

use quipu_wire::CollabAgentTool;
use serde::Deserialize;
use serde_json::{Value, json};

use super::item::Shown;
use super::{Agents, agent_id, state_for_model};
use crate::call::Running;

#[derive(Deserialize)]
struct Arguments {
    id: String,
}

pub(super) async fn resume_agent(run: &Running, agents: &dyn Agents) -> Result<Value, String> {
    let Arguments { id } = run.arguments()?;
    let id = agent_id(&id)?;
    let shown = Shown::about(CollabAgentTool::ResumeAgent, vec![id.clone()]);
    shown.started(run).await;
    let resumed = agents.resume(&id).await;
    let state = agents.state(&id);
    let states = BTreeMap::from([(id, state.clone())]);
    shown.completed(run, resumed.is_ok(), states).await;
    resumed.map(|()| json!({ "status": state_for_model(&state) }))
}
