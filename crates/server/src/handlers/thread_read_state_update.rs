//! `thread/readState/update`: a client says what the user has read.

use std::sync::Arc;

use quipu_wire::method::request::ThreadReadStateUpdate;
use quipu_wire::{ThreadReadStateUpdateParams, ThreadReadStateUpdateResponse};
use uuid::Uuid;

use super::ReplyHandler;
use crate::blocking::blocking;
use crate::threads::{self, Verb};
use crate::{Cx, Refusal, Reply, Server, read_states};

impl ReplyHandler for ThreadReadStateUpdate {
    async fn handle(cx: Cx, params: ThreadReadStateUpdateParams, reply: Reply<Self>) {
        let id = match threads::parse_id(&params.thread_id) {
            Ok(id) => id,
            Err(error) => {
                let error = Refusal::invalid_params(error.to_string());
                return reply.send(Err(error)).await;
            }
        };
        if let Some(thread) = cx.server.threads.get(&id.to_string()) {
            thread.send(Verb::UpdateReadState { params, reply }).await;
            return;
        }
        let updated = blocking(&cx.server, move |server| update(server, id, &params)).await;
        reply.send(updated.and_then(std::convert::identity)).await;
    }
}

/// Updates a thread that is not loaded, which nobody follows.
fn update(
    server: &Arc<Server>,
    id: Uuid,
    params: &ThreadReadStateUpdateParams,
) -> Result<ThreadReadStateUpdateResponse, Refusal> {
    threads::require_stored(server, id).map_err(|error| match error {
        Refusal::ThreadNotFound(_) => Refusal::ThreadNotLoaded(id),
        error => error,
    })?;
    let read_state = read_states::update(&server.store, id, params)?;
    Ok(ThreadReadStateUpdateResponse { read_state })
}
