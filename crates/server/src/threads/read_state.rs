//! What is read of a loaded thread: turns that end with a result are unread, and clients say what was read.

use quipu_engine::{TurnEnd, TurnId};
use quipu_wire::method::request;
use quipu_wire::{
    ServerNotification, ThreadReadState, ThreadReadStateChangedNotification,
    ThreadReadStateUpdateParams, ThreadReadStateUpdateResponse, Turn,
};

use super::actor::Actor;
use crate::{Refusal, Reply, read_states};

/// A turn is about to be recorded as ended. If it has a result (a message or a failure), clients learn with its end
/// that it is unread, which is stored before.
pub(super) fn turn_ended(actor: &mut Actor, turn_id: &TurnId, end: &TurnEnd, has_message: bool) {
    let has_result = match end {
        TurnEnd::Completed => has_message,
        TurnEnd::Failed(_) => true,
        TurnEnd::Interrupted | TurnEnd::Replaced => false,
    };
    if !has_result || actor.recorder.is_ephemeral() {
        return;
    }
    let Ok(id) = super::parse_id(&actor.handle.id) else {
        return;
    };
    match read_states::turn_ended(&actor.server.store, id, turn_id) {
        Ok(state) => {
            let changed = changed(actor, state);
            actor.audience.hold_before_end(changed);
        }
        Err(error) => tracing::warn!(thread = %id, %error, "turn not marked as unread"),
    }
}

/// Turns were taken back, and these are left.
pub(super) async fn turns_left(actor: &mut Actor, turns: &[Turn]) {
    let Ok(id) = super::parse_id(&actor.handle.id) else {
        return;
    };
    match read_states::turns_left(&actor.server.store, id, turns) {
        Ok(Some(state)) => {
            let changed = changed(actor, state);
            actor.audience.notify(&changed).await;
        }
        Ok(None) => {}
        Err(error) => tracing::warn!(thread = %id, %error, "unread mark not removed"),
    }
}

/// Does what a client asks for.
pub(super) async fn update(
    actor: &mut Actor,
    params: &ThreadReadStateUpdateParams,
    reply: Reply<request::ThreadReadStateUpdate>,
) {
    let updated = updated(actor, params);
    let answer = updated.clone();
    let answer = answer.map(|read_state| ThreadReadStateUpdateResponse { read_state });
    reply.send(answer).await;
    if let Ok(state) = updated {
        let changed = changed(actor, state);
        actor.audience.notify(&changed).await;
    }
}

fn updated(
    actor: &mut Actor,
    params: &ThreadReadStateUpdateParams,
) -> Result<ThreadReadState, Refusal> {
    let id = super::parse_id(&actor.handle.id)?;
    let snapshot = actor.snapshot();
    // As in `thread/read`, a thread that was named counts as stored.
    let is_stored = snapshot.rollout.is_some() || snapshot.thread.name.is_some();
    if snapshot.ephemeral || !is_stored {
        let text = "thread read state unavailable";
        return Err(Refusal::invalid_request(text));
    }
    read_states::update(&actor.server.store, id, params)
}

fn changed(actor: &Actor, read_state: ThreadReadState) -> ServerNotification {
    ServerNotification::ThreadReadStateChanged(ThreadReadStateChangedNotification {
        thread_id: actor.handle.id.to_string(),
        read_state,
    })
}
