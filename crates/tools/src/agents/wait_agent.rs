//! `wait_agent`: waits until the first of several agents is done.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use quipu_wire::CollabAgentTool;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::item::Shown;
use super::{Agents, accepts, agent_id, are_offered, call, state_for_model};
use crate::call::{Finished, Running};
use crate::schema::describe;
use crate::scope::Scope;
use crate::spec::Spec;
use crate::tool::{Parallel, Tool};

/// How long to wait, in milliseconds.
const DEFAULT: i64 = 30_000;
/// A model that asks for less would only ask again and again.
const SHORTEST: i64 = 10_000;
const LONGEST: i64 = 3_600_000;

#[derive(Deserialize)]
struct Arguments {
    #[serde(default)]
    targets: Vec<String>,
    timeout_ms: Option<i64>,
}

describe!(Arguments {
    required { targets: "The ids of the agents." }
    optional { timeout_ms: "How long to wait: 30000 if left out, at least 10000, at most 3600000." }
});

pub(crate) struct WaitAgent;

impl Tool for WaitAgent {
    fn name(&self) -> &'static str {
        "wait_agent"
    }

    fn parallel(&self) -> Parallel {
        Parallel::Always
    }

    fn spec(&self, scope: &Scope) -> Option<Spec> {
        let description = "Waits until the first of these agents is done and returns what it said. Returns \
                           nothing if the time is over before. Wait only when you cannot go on without them.";
        are_offered(scope).then(|| Spec::function::<Arguments>(self.name(), description))
    }

    fn accepts(&self, run: &Running) -> bool {
        accepts(run)
    }

    fn run<'a>(&'a self, run: &'a Running) -> BoxFuture<'a, Finished> {
        Box::pin(call(run, wait_agent))
    }
}

async fn wait_agent(run: &Running, agents: &dyn Agents) -> Result<Value, String> {
    let arguments: Arguments = run.arguments()?;
    if arguments.targets.is_empty() {
        return Err("agent ids must be non-empty".to_owned());
    }
    let ids: Vec<String> = arguments
        .targets
        .iter()
        .map(|id| agent_id(id))
        .collect::<Result<_, _>>()?;
    let timeout = arguments.timeout_ms.unwrap_or(DEFAULT);
    if timeout <= 0 {
        return Err("timeout_ms must be greater than zero".to_owned());
    }
    let timeout = timeout.clamp(SHORTEST, LONGEST).unsigned_abs();
    let mut shown = Shown::about(CollabAgentTool::Wait, ids.clone());
    shown.started(run).await;
    let begun = Instant::now();
    let done = tokio::select! {
        done = agents.wait(&ids) => done,
        () = tokio::time::sleep(Duration::from_millis(timeout)) => BTreeMap::new(),
        () = run.cancel.cancelled() => return Err(run.aborted(begun.elapsed())),
    };
    let status: Map<String, Value> = done
        .iter()
        .map(|(id, state)| (id.clone(), state_for_model(state)))
        .collect();
    let timed_out = done.is_empty();
    shown.receivers = done.keys().cloned().collect();
    shown.completed(run, true, done).await;
    Ok(json!({ "status": status, "timed_out": timed_out }))
}
