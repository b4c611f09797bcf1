//! `wait_agent`: waits until the first of several agents is done.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use quipu_wire::CollabAgentTool;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::item::Shown;
use super::{Agents, agent_id, state_for_model};
use crate::call::Running;

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

pub(super) async fn wait_agent(run: &Running, agents: &dyn Agents) -> Result<Value, String> {
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
