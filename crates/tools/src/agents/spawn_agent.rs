//! `spawn_agent`: the agent gives a task to another one, which works on it in a thread of its own.

use std::collections::BTreeMap;

use futures_util::future::BoxFuture;
use quipu_wire::{CollabAgentTool, ReasoningEffort};
use serde::Deserialize;
use serde_json::{Value, json};

use super::input::{self, ITEMS, Item};
use super::item::Shown;
use super::{Agents, Order, accepts, call};
use crate::call::{Finished, Running};
use crate::schema::{self, Schema, describe};
use crate::scope::Scope;
use crate::spec::Spec;
use crate::tool::Tool;

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

/// What the model reads about the tool.
const DESCRIPTION: &str = "Starts another agent on a task of its own and returns its id at once. Do this only when the \
    user wants work to be shared or done in parallel. Give it a task that stands by itself, and do something else \
    meanwhile; you are told when it is done. Close it when you need it no longer.";

// The kinds of agents depend on the settings, so the description of `agent_type` is added later.
describe!(Arguments {
    required {}
    optional {
        message: "The task, with all that the agent must know. Either this or `items`.",
        items: ITEMS,
        agent_type,
        fork_context: "Whether the agent knows this conversation so far. It knows nothing of it if left out.",
        model: "Another model for the agent; yours if left out.",
        reasoning_effort: "How hard the agent is to think; as you do if left out.",
    }
});

impl Schema for Effort {
    fn schema() -> Value {
        String::schema()
    }
}

pub(crate) struct SpawnAgent;

impl Tool for SpawnAgent {
    fn name(&self) -> &'static str {
        "spawn_agent"
    }

    fn spec(&self, scope: &Scope) -> Option<Spec> {
        let roles = scope.agents.as_ref()?.iter();
        let listed: Vec<String> = roles
            .map(|role| format!("- `{}`: {}", role.name, role.description))
            .collect();
        let kinds = format!(
            "The kind of agent, `default` if left out. There are:\n{}",
            listed.join("\n")
        );
        let schema = schema::printed::<Arguments>(kinds, |schema, kinds| {
            schema["properties"]["agent_type"]["description"] = json!(kinds);
        });
        Some(Spec::with_schema(self.name(), DESCRIPTION, schema))
    }

    fn accepts(&self, run: &Running) -> bool {
        accepts(run)
    }

    fn run<'a>(&'a self, run: &'a Running) -> BoxFuture<'a, Finished> {
        Box::pin(call(run, spawn_agent))
    }
}

async fn spawn_agent(run: &Running, agents: &dyn Agents) -> Result<Value, String> {
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
        call_id: run.id().clone(),
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
