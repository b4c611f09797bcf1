//! `resume_agent`: an agent that was closed comes back, with all that it knew.

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
    id: String,
}

describe!(Arguments {
    required { id: TARGET }
    optional {}
});

pub(crate) struct ResumeAgent;

impl Tool for ResumeAgent {
    fn name(&self) -> &'static str {
        "resume_agent"
    }

    fn spec(&self, scope: &Scope) -> Option<Spec> {
        let description = "Brings back an agent that was closed, with all it knew, so that it can be given more \
                           to do.";
        are_offered(scope).then(|| Spec::function::<Arguments>(self.name(), description))
    }

    fn accepts(&self, run: &Running) -> bool {
        accepts(run)
    }

    fn run<'a>(&'a self, run: &'a Running) -> BoxFuture<'a, Finished> {
        Box::pin(call(run, resume_agent))
    }
}

async fn resume_agent(run: &Running, agents: &dyn Agents) -> Result<Value, String> {
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
