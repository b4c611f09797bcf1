//! `thread/compact/start`: a summary takes the place of the history, or what the provider makes of it.

use quipu_engine::{Compacted, Input, Summary, TurnId};
use quipu_wire::method::request;

use super::actor::Actor;
use super::turn_context::turn_context;
use super::turn_start;
use crate::Reply;
use quipu_prompt::{compaction, initial};

/// The turn exists before the request for it is answered, so that a defect costs one or the other.
pub(super) async fn start(actor: &mut Actor, reply: Reply<request::ThreadCompactStart>) {
    if let Err(error) = actor.recorder.reserve() {
        return reply.send(Err(error)).await;
    }
    turn_start::prepare(actor, None).await;
    let turn_id = uuid::Uuid::now_v7().to_string().into();
    let effects = actor.engine_step(Input::Compact { turn_id });
    reply
        .send(Ok(quipu_wire::ThreadCompactStartResponse {}))
        .await;
    actor.perform(effects).await;
}

/// Makes the new history out of a summary.
pub(super) fn summarise(
    actor: &mut Actor,
    turn_id: &TurnId,
    summary: Summary,
    mid_turn: bool,
) -> Compacted {
    let facts = actor.facts_now();
    let context = if mid_turn {
        initial::initial(&facts, None)
    } else {
        Vec::new()
    };
    let history = match summary {
        Summary::Text(text) => {
            let summary = compaction::summary(Some(&*text).filter(|it| !it.trim().is_empty()));
            compaction::replacement(actor.sampler.sent(), &summary, context)
        }
        Summary::Items(items) => compaction::provided(items, context),
    };
    let tokens = actor.sampler.estimate(&history);
    actor.sampler.forget_sent();
    let baseline = mid_turn.then(|| facts.baseline());
    actor.sampler.prompt_mut().set_baseline(baseline);
    let record = mid_turn
        .then(|| turn_context(&actor.session, &actor.sampler, &facts, turn_id))
        .flatten();
    Compacted {
        history,
        tokens,
        record,
    }
}
