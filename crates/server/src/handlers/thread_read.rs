//! `thread/read`: a thread without loading it.

use std::sync::Arc;

use quipu_wire::method::request::ThreadRead;
use quipu_wire::{
    Thread, ThreadReadParams, ThreadReadResponse, ThreadReadState, ThreadStatus, TurnStatus,
};
use uuid::Uuid;

use super::Handler;
use crate::blocking::blocking;
use crate::sections::Sections;
use crate::threads::{self, ThreadSnapshot, from_summary, load};
use crate::{Cx, Refusal, Server, read_states};

impl Handler for ThreadRead {
    async fn run(cx: Cx, params: ThreadReadParams) -> Result<Self::Result, Refusal> {
        let (thread, read_state) = read(&cx, params).await?;
        Ok(ThreadReadResponse { thread, read_state })
    }
}

async fn read(
    cx: &Cx,
    params: ThreadReadParams,
) -> Result<(Thread, Option<ThreadReadState>), Refusal> {
    let id = threads::parse_id(&params.thread_id)?;
    let snapshot = match cx.server.threads.get(&id.to_string()) {
        Some(thread) => thread.snapshot().await,
        None => None,
    };
    let reading = move |server: &Arc<Server>| {
        let thread = read_stored(server, id, snapshot, params.include_turns)?;
        // As in later versions, a thread that was named counts as stored.
        let is_stored = !thread.ephemeral
            && (thread.name.is_some() || threads::require_stored(server, id).is_ok());
        let read_state = is_stored.then(|| read_states::of(&server.store, id));
        Ok((thread, read_state))
    };
    blocking(&cx.server, reading).await?
}

/// A thread as the store knows it, with what is known of it because it is loaded.
fn read_stored(
    server: &Server,
    id: Uuid,
    snapshot: Option<ThreadSnapshot>,
    include_turns: bool,
) -> Result<Thread, Refusal> {
    let summary = server
        .store
        .summary(id)
        .map_err(|error| cannot_read(id, &error))?;
    let archived = summary.as_ref().is_some_and(|summary| summary.archived);
    let mut thread = match (summary, &snapshot) {
        (Some(summary), snapshot) => {
            let status = snapshot
                .as_ref()
                .map_or(ThreadStatus::NotLoaded, |snapshot| {
                    snapshot.thread.status.clone()
                });
            from_summary(summary, status)
        }
        (None, Some(snapshot)) => snapshot.thread.clone(),
        (None, None) => {
            return Err(Refusal::ThreadNotLoaded(id));
        }
    };
    Sections::read(&server.store).show(&mut thread);
    if !include_turns {
        return Ok(thread);
    }
    let rollout = match &snapshot {
        Some(snapshot) if snapshot.ephemeral => {
            return Err(Refusal::invalid_request("ephemeral threads do not support includeTurns"));
        }
        // As later versions have it, a thread that was named can be read.
        Some(snapshot) if snapshot.rollout.is_none() && snapshot.thread.name.is_some() => {
            return Ok(thread);
        }
        Some(snapshot) => snapshot.rollout.clone().ok_or_else(|| {
            let text = format!(
                "thread {id} is not materialized yet; includeTurns is unavailable before first user message"
            );
            Refusal::invalid_request(text)
        })?,
        None if archived => {
            return Err(Refusal::RolloutLost(id));
        }
        None => load::find(server, id)
            .map_err(|_| Refusal::RolloutLost(id))?,
    };
    let live = snapshot.and_then(|snapshot| snapshot.live);
    thread.turns = load::turns(server, &rollout, live.is_some())?;
    if !matches!(thread.status, ThreadStatus::Active { .. }) {
        let open = thread
            .turns
            .iter_mut()
            .filter(|turn| turn.status == TurnStatus::InProgress);
        open.for_each(|turn| turn.status = TurnStatus::Interrupted);
    }
    Ok(thread)
}

fn cannot_read(id: Uuid, error: &quipu_journal::Error) -> Refusal {
    Refusal::internal(format!("failed to read thread {id}: {error}"))
}
