//! `turn/steer`: more input for the running turn.

use quipu_engine::Input;
use quipu_wire::TurnSteerParams;
use quipu_wire::method::request;

use super::actor::Actor;
use super::once;
use super::replies::{Keyed, Pending};
use super::user_message::check_size;
use crate::Reply;

pub(super) async fn steer(
    actor: &mut Actor,
    params: TurnSteerParams,
    reply: Reply<request::TurnSteer>,
) {
    let Some((once, reply)) = once::steer(actor, &params, reply).await else {
        return;
    };
    actor.reports.prompt(&actor.session, &params.input);
    let prompt = actor.sampler.prompt_mut();
    prompt.renew_skills_for(&actor.server, &actor.session, &params.input);
    let message = actor.sampler.user_message(&actor.handle.id, params.input);
    let pending = actor.sampler.pending_mut();
    let accepted =
        check_size(&message).and_then(|()| pending.grow(&actor.server, &actor.engine, &message));
    if let Err(error) = accepted {
        return reply.send(Err(error)).await;
    }
    let reply = actor.replies.add(Pending::Steer(Keyed::new(reply, once)));
    let steer = Input::Steer {
        reply,
        expected: params.expected_turn_id.into(),
        message,
    };
    actor.step(steer).await;
}
