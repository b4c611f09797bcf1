//! `turn/start` and `turn/steer` that were sent before, by their key.

use quipu_wire::method::{Method as _, request};
use quipu_wire::{
    Turn, TurnStartParams, TurnStartResponse, TurnStatus, TurnSteerParams, TurnSteerResponse,
};

use super::actor::Actor;
use super::load;
use crate::Reply;
use crate::once::Once;

pub(super) fn new_turn_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// Begins a `turn/start`; nothing if it was sent before, and so is answered here.
pub(super) async fn start(
    actor: &mut Actor,
    params: &TurnStartParams,
    reply: Reply<request::TurnStart>,
) -> Option<(Option<Once>, Reply<request::TurnStart>)> {
    let request = (request::TurnStart::NAME, params);
    let key = params.idempotency_key.as_deref();
    let once = match Once::begin(&actor.server, request, key, new_turn_id) {
        Ok(Some(once)) => once,
        Ok(None) => return Some((None, reply)),
        Err(error) => {
            reply.send(Err(error)).await;
            return None;
        }
    };
    if !once.is_repeated {
        return Some((Some(once), reply));
    }
    let reply = actor.replies.repeat_start(&once, reply)?;
    if !once.is_done() && !has_turn(actor, once.made()) {
        return Some((Some(once), reply));
    }
    let turn = Turn {
        id: once.made().to_owned(),
        items: Vec::new(),
        items_view: None,
        status: TurnStatus::InProgress,
        error: None,
    };
    reply.send(Ok(TurnStartResponse { turn })).await;
    None
}

/// Begins a `turn/steer`; nothing if it was sent before, and so is answered here. After a crash the turn is over, so
/// one that is not done is refused like any other.
pub(super) async fn steer(
    actor: &mut Actor,
    params: &TurnSteerParams,
    reply: Reply<request::TurnSteer>,
) -> Option<(Option<Once>, Reply<request::TurnSteer>)> {
    let request = (request::TurnSteer::NAME, params);
    let key = params.idempotency_key.as_deref();
    let turn_id = || params.expected_turn_id.clone();
    let once = match Once::begin(&actor.server, request, key, turn_id) {
        Ok(Some(once)) => once,
        Ok(None) => return Some((None, reply)),
        Err(error) => {
            reply.send(Err(error)).await;
            return None;
        }
    };
    let reply = actor.replies.repeat_steer(&once, reply)?;
    if !once.is_done() {
        return Some((Some(once), reply));
    }
    let turn_id = once.made().to_owned();
    reply.send(Ok(TurnSteerResponse { turn_id })).await;
    None
}

/// Whether the thread has a turn, running or stored.
fn has_turn(actor: &mut Actor, id: &str) -> bool {
    if actor.engine.active_turn().is_some_and(|it| **it == *id) {
        return true;
    }
    actor.recorder.flush_rollout();
    let Some(path) = actor.recorder.rollout() else {
        return false;
    };
    let turns = tokio::task::block_in_place(|| load::turns(&actor.server, &path, false));
    turns.is_ok_and(|turns| turns.iter().any(|turn| turn.id == id))
}
