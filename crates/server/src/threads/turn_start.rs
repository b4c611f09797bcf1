//! `turn/start`: the user's input begins a turn, or joins the one that runs.

use quipu_engine::{Input, Start};
use quipu_wire::method::request;
use quipu_wire::{Json, TurnStartParams};

use super::actor::Actor;
use super::once;
use super::replies::{Keyed, Pending};
use super::rights::{self, Rights};
use super::settings_update;
use super::user_message::check_size;
use crate::{Refusal, Reply};

pub(super) async fn start(
    actor: &mut Actor,
    params: TurnStartParams,
    client_name: Option<String>,
    reply: Reply<request::TurnStart>,
) {
    if params.input.is_empty() {
        return reply.send(Err(Refusal::EmptyInput)).await;
    }
    let Some((once, reply)) = once::start(actor, &params, reply).await else {
        return;
    };
    let rights = match actor.session.rights(&actor.server, &params) {
        Ok(rights) => rights,
        Err(refusal) => return reply.send(Err(refusal)).await,
    };
    actor.audience.set_client_name(client_name);
    actor.reports.called_by(reply.context());
    actor.reports.prompt(&actor.session, &params.input);
    let prompt = actor.sampler.prompt_mut();
    prompt.renew_skills_for(&actor.server, &actor.session, &params.input);
    let content = params.input.clone();
    let message = actor.sampler.user_message(&actor.handle.id, content);
    let mut accepted = check_size(&message);
    if actor.engine.active_turn().is_some() {
        let pending = actor.sampler.pending_mut();
        accepted = accepted.and_then(|()| pending.grow(&actor.server, &actor.engine, &message));
    }
    if let Err(error) = accepted.and_then(|()| actor.recorder.reserve()) {
        return reply.send(Err(error)).await;
    }
    actor.goal.user_acts();
    change_settings(actor, rights, &params).await;
    prepare(actor, params.output_schema).await;
    let turn_id = once.as_ref().map(|it| it.made().to_owned());
    let turn_id = turn_id.unwrap_or_else(once::new_turn_id).into();
    let reply = Pending::Start(Keyed::new(reply, once));
    let reply = actor.replies.add(reply);
    let start = Start {
        reply,
        turn_id,
        message,
    };
    actor.step(Input::Start(start)).await;
}

async fn change_settings(actor: &mut Actor, rights: Rights, params: &TurnStartParams) {
    let before = settings_update::settings(&actor.session);
    rights::change_session(actor, rights, params);
    settings_update::notify_changes(actor, &before).await;
}

/// Sets what holds for the next turn, unless one runs that takes the input.
pub(super) async fn prepare(actor: &mut Actor, output_schema: Option<Json>) {
    if actor.engine.active_turn().is_some() {
        return;
    }
    if let Some(warning) = actor.session.learn_window(&actor.server).await {
        actor.audience.warn(&warning).await;
    }
    let (server, session) = (&actor.server, &mut actor.session);
    let servers = actor.sampler.mcp_mut();
    servers.renew(server, session, &actor.handle);
    actor.tools.learn_secrets(server, session);
    actor.sampler.begin_turn(output_schema);
    let info = &session.info;
    actor
        .engine
        .set_limits(info.effective_context_window(), info.compaction_limit());
}
