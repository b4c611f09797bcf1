//! `send_input`: an agent gets more to do, or something else.

use std::collections::BTreeMap;

use futures_util::future::BoxFuture;
use quipu_wire::CollabAgentTool;
use serde::Deserialize;
use serde_json::{Value, json};

use super::input::{self, ITEMS, Item};
use super::item::Shown;
use super::{Agents, TARGET, accepts, agent_id, are_offered, call};
use crate::call::{Finished, Running};
use crate::schema::describe;
use crate::scope::Scope;
use crate::spec::Spec;
use crate::tool::Tool;

#[derive(Deserialize)]
struct Arguments {
    target: String,
    message: Option<String>,
    items: Option<Vec<Item>>,
    #[serde(default)]
    interrupt: bool,
}

describe!(Arguments {
    required { target: TARGET }
    optional {
        message: "What to tell it. Either this or `items`.",
        items: ITEMS,
        interrupt: "Whether to stop what it is doing first.",
    }
});

pub(crate) struct SendInput;

impl Tool for SendInput {
    fn name(&self) -> &'static str {
        "send_input"
    }

    fn spec(&self, scope: &Scope) -> Option<Spec> {
        let description = "Gives an agent more to do. An agent at work reads it as soon as it can.";
        are_offered(scope).then(|| Spec::function::<Arguments>(self.name(), description))
    }

    fn accepts(&self, run: &Running) -> bool {
        accepts(run)
    }

    fn run<'a>(&'a self, run: &'a Running) -> BoxFuture<'a, Finished> {
        Box::pin(call(run, send_input))
    }
}

async fn send_input(run: &Running, agents: &dyn Agents) -> Result<Value, String> {
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
