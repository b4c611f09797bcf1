//! `close_agent`: an agent is no longer needed; it and those it started end.

use std::collections::BTreeMap;

use quipu_wire::CollabAgentTool;
use serde::Deserialize;
use serde_json::{Value, json};

use super::item::Shown;
use super::{Agents, agent_id, state_for_model};
use crate::call::Running;

#[derive(Deserialize)]
struct Arguments {
    target: String,
}

pub(super) async fn close_agent(run: &Running, agents: &dyn Agents) -> Result<Value, String> {
    let Arguments { target } = run.arguments()?;
    let id = agent_id(&target)?;
    let shown = Shown::about(CollabAgentTool::CloseAgent, vec![id.clone()]);
    shown.started(run).await;
    let closed = agents.close(&id).await;
    let before = closed.clone().unwrap_or_else(|_| agents.state(&id));
    let states = BTreeMap::from([(id, before)]);
    shown.completed(run, closed.is_ok(), states).await;
    closed.map(|before| json!({ "previous_status": state_for_model(&before) }))
}
