//! `send_input`: an agent gets more to do, or something else.

use std::collections::BTreeMap;

use quipu_wire::CollabAgentTool;
use serde::Deserialize;
use serde_json::{Value, json};

use super::input::{self, Item};
use super::item::Shown;
use super::{Agents, agent_id};
use crate::call::Running;

#[derive(Deserialize)]
struct Arguments {
    target: String,
    message: Option<String>,
    items: Option<Vec<Item>>,
    #[serde(default)]
    interrupt: bool,
}

pub(super) async fn send_input(run: &Running, agents: &dyn Agents) -> Result<Value, String> {
    let arguments: Arguments = run.arguments()?;
    let id = agent_id(&arguments.target)?;
    let input = input::input(arguments.message, arguments.items)?;
    let shown = Shown {
        prompt: Some(input::prompt(&input)),
        ..Shown::about(CollabAgentTool::SendInput, vec![id.clone()])
    };
    shown.started(run).await;
    let sent = agents.send(&id, input, arguments.interrupt).await;
    let states = BTreeMap::from([(id.clone(), agents.state(&id))]);
    shown.completed(run, sent.is_ok(), states).await;
    sent.map(|submission| json!({ "submission_id": submission }))
}
