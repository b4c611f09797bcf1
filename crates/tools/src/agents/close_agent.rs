//! `close_agent`: an agent is no longer needed; it and those it started end.

use std::collections::BTreeMap;

use futures_util::future::BoxFuture;
use quipu_wire::CollabAgentTool;
use serde::Deserialize;
use serde_json::{Value, json};

use super::item::Shown;
use super::{Agents, TARGET, accepts, agent_id, are_offered, call, state_for_model};
use crate::call::{Finished, Running};
use crate::schema::describe;
use crate::scope::Scope;
use crate::spec::Spec;
use crate::tool::Tool;

#[derive(Deserialize)]
struct Arguments {
    target: String,
}

describe!(Arguments {
    required { target: TARGET }
    optional {}
});

pub(crate) struct CloseAgent;

impl Tool for CloseAgent {
    fn name(&self) -> &'static str {
        "close_agent"
    }

    fn spec(&self, scope: &Scope) -> Option<Spec> {
        let description = "Ends an agent and all that it started, and returns how it was. Agents that are done \
                           stay open until closed, and only so many can be open.";
        are_offered(scope).then(|| Spec::function::<Arguments>(self.name(), description))
    }

    fn accepts(&self, run: &Running) -> bool {
        accepts(run)
    }

    fn run<'a>(&'a self, run: &'a Running) -> BoxFuture<'a, Finished> {
        Box::pin(call(run, close_agent))
    }
}

async fn close_agent(run: &Running, agents: &dyn Agents) -> Result<Value, String> {
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
