//! `thread/inject_items`: items for the model's history that no client sees.

use quipu_engine::Input;
use quipu_wire::method::request;
use quipu_wire::{Json, ThreadInjectItemsResponse};

use super::actor::Actor;
use crate::Reply;

/// Adds the items. A turn that runs gives them to the model with its next request.
pub(super) async fn inject(
    actor: &mut Actor,
    items: Vec<Json>,
    reply: Reply<request::ThreadInjectItems>,
) {
    if let Err(error) = actor.recorder.reserve() {
        return reply.send(Err(error)).await;
    }
    for item in items {
        actor.step(Input::Note(item)).await;
    }
    actor.recorder.flush_idle();
    reply.send(Ok(ThreadInjectItemsResponse {})).await;
}
