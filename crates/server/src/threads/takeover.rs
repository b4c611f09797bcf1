//! A thread that another node has taken over, because this one gave no signs of life for too long. What runs here has ended
//! with the first write that was refused, which the error of the turn says; now the thread is unloaded, so that the next
//! request about it goes to the node that has it.

use quipu_wire::ThreadClosedNotification;
use quipu_wire::method::event;

use super::actor::Actor;

/// Whether nothing is left to do here for the thread.
pub(super) fn is_over(actor: &Actor) -> bool {
    actor.recorder.is_taken_over() && actor.engine.active_turn().is_none()
}

/// Unloads the thread.
pub(super) async fn leave(actor: &mut Actor) {
    tracing::warn!(thread = %actor.handle.id, "thread taken over by another node");
    actor.server.threads.remove(&actor.handle);
    actor.close().await;
    let params = ThreadClosedNotification {
        thread_id: actor.handle.id.to_string(),
    };
    let hub = &actor.server.hub;
    hub.broadcast::<event::ThreadClosed>(&params).await;
}
