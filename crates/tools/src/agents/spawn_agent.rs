//! `spawn_agent`: the agent gives a task to another one, which works on it in a thread of its own.

use std::collections::BTreeMap;

use quipu_wire::{CollabAgentTool, ReasoningEffort};
use serde::Deserialize;
use serde_json::{Value, json};

use super::input::{self, Item};
use super::item::Shown;
use super::{Agents, Order};
use crate::call::Running;

#[derive(Deserialize)]
struct Arguments {
    message: Option<String>,
    items: Option<Vec<Item>>,
    agent_type: Option<String>,
    model: Option<String>,
    reasoning_effort: Option<Effort>,
    #[serde(default)]
    fork_context: bool,
}

/// The efforts that can be asked for.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Effort {
    None,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
}

pub(super) async fn spawn_agent(run: &Running, agents: &dyn Agents) -> Result<Value, String> {
    let arguments: Arguments = run.arguments()?;
    let input = input::input(arguments.message, arguments.items)?;
    let effort = arguments.reasoning_effort.map(effort);
    let mut shown = Shown {
        prompt: Some(input::prompt(&input)),
        model: Some(arguments.model.clone().unwrap_or_default()),
        effort: Some(effort.unwrap_or(ReasoningEffort::Medium)),
        ..Shown::about(CollabAgentTool::SpawnAgent, Vec::new())
    };
    shown.started(run).await;
    let order = Order {
        call_id: run.id().to_owned(),
        input,
        role: arguments.agent_type,
        model: arguments.model,
        effort,
        with_context: arguments.fork_context,
    };
    let spawned = match agents.spawn(order).await {
        Ok(spawned) => spawned,
        Err(error) => {
            shown.completed(run, false, BTreeMap::new()).await;
            return Err(error);
        }
    };
    shown.receivers = vec![spawned.id.clone()];
    shown.model = Some(spawned.model);
    shown.effort = spawned.effort.or(shown.effort);
    let state = agents.state(&spawned.id);
    let states = BTreeMap::from([(spawned.id.clone(), state)]);
    shown.completed(run, true, states).await;
    Ok(json!({ "agent_id": spawned.id, "nickname": spawned.nickname }))
}

fn effort(effort: Effort) -> ReasoningEffort {
    match effort {
        Effort::None => ReasoningEffort::None,
        Effort::Minimal => ReasoningEffort::Minimal,
        Effort::Low => ReasoningEffort::Low,
        Effort::Medium => ReasoningEffort::Medium,
        Effort::High => ReasoningEffort::High,
        Effort::Xhigh => ReasoningEffort::Xhigh,
    }
}
