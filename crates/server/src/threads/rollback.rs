//! `thread/rollback`: the last turns are taken back.

use quipu_engine::{Thread as Engine, ThreadId};
use quipu_wire::method::request;
use quipu_wire::{
    AccountRateLimitsUpdatedNotification, ServerNotification, Thread, ThreadRollbackResponse,
    ThreadTokenUsageUpdatedNotification,
};

use super::actor::Actor;
use super::audience::Audience;
use super::read_state;
use super::turn_context::stored_baseline;
use crate::{Refusal, Reply};

pub(super) async fn rollback(actor: &mut Actor, turns: u32, reply: Reply<request::ThreadRollback>) {
    let answer = roll_back(actor, turns).await;
    reply
        .send(answer.map(|thread| ThreadRollbackResponse { thread }))
        .await;
}

pub(super) async fn roll_back(actor: &mut Actor, turns: u32) -> Result<Thread, Refusal> {
    if actor.engine.active_turn().is_some() {
        return Err(Refusal::TurnRunning);
    }
    let (replay, history) = actor.recorder.roll_back(&actor.server, turns)?;
    let tokens = actor.sampler.estimate(&history);
    actor.engine.replace_history(history, tokens);
    actor.sampler.forget_sent();
    let baseline = stored_baseline(&replay);
    actor.sampler.prompt_mut().set_baseline(baseline);
    notify_usage(&mut actor.audience, &actor.engine, &actor.handle.id).await;
    let thread = actor.snapshot().with_turns(&actor.server)?;
    read_state::turns_left(actor, &thread.turns).await;
    Ok(thread)
}

/// Notifies of the tokens and limits that hold again, if any are known.
async fn notify_usage(audience: &mut Audience, engine: &Engine, thread_id: &ThreadId) {
    let Some(token_usage) = engine.usage().cloned() else {
        return;
    };
    let params = ThreadTokenUsageUpdatedNotification {
        thread_id: thread_id.to_string(),
        turn_id: uuid::Uuid::now_v7().to_string(),
        token_usage,
    };
    audience
        .notify(&ServerNotification::ThreadTokenUsageUpdated(params))
        .await;
    let rate_limits = engine.rate_limits().clone();
    let params = AccountRateLimitsUpdatedNotification { rate_limits };
    audience
        .notify(&ServerNotification::AccountRateLimitsUpdated(params))
        .await;
}
