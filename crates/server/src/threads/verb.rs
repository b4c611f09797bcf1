//! What a client asks of a loaded thread: its turns and its settings. Each verb has a file of its name.

use std::sync::Arc;

use quipu_engine::{Input, TurnId};
use quipu_wire::method::request;
use quipu_wire::{
    Json, ReviewStartParams, ThreadReadStateUpdateParams, ThreadSampleParams,
    ThreadSettingsUpdateParams, TurnSettingsUpdateParams, TurnStartParams, TurnSteerParams,
};

use super::actor::Actor;
use super::join::Joining;
use super::{compact, inject, join, read_state, revert, review, rollback, sample};
use super::{settings_update, shell, steer, turn_settings, turn_start};
use crate::hub::Client;
use crate::samples::Cancellable;
use crate::{Refusal, Reply};

/// A request of a client that its thread answers.
pub(crate) enum Verb {
    StartTurn {
        params: Box<TurnStartParams>,
        /// What the client that asked calls itself.
        client_name: Option<String>,
        reply: Reply<request::TurnStart>,
    },
    Steer {
        params: TurnSteerParams,
        reply: Reply<request::TurnSteer>,
    },
    Interrupt {
        turn_id: TurnId,
        reply: Reply<request::TurnInterrupt>,
    },
    Compact {
        reply: Reply<request::ThreadCompactStart>,
    },
    Shell {
        command: String,
        reply: Reply<request::ThreadShellCommand>,
    },
    Review {
        params: ReviewStartParams,
        /// Where the branches of a review parted, if that is known.
        merge_base: Option<String>,
        reply: Reply<request::ReviewStart>,
    },
    /// Joins a loaded thread: the answer, then the pending questions, then its events.
    Join {
        client: Arc<Client>,
        joining: Joining,
    },
    Rollback {
        turns: u32,
        reply: Reply<request::ThreadRollback>,
    },
    Revert {
        before: String,
        reply: Reply<request::ThreadRevert>,
    },
    /// Items for the model's history.
    Inject {
        items: Vec<Json>,
        reply: Reply<request::ThreadInjectItems>,
    },
    UpdateSettings {
        params: Box<ThreadSettingsUpdateParams>,
        reply: Reply<request::ThreadSettingsUpdate>,
    },
    UpdateTurnSettings {
        params: Box<TurnSettingsUpdateParams>,
        reply: Reply<request::TurnSettingsUpdate>,
    },
    UpdateReadState {
        params: ThreadReadStateUpdateParams,
        reply: Reply<request::ThreadReadStateUpdate>,
    },
    /// A question beside the thread.
    Sample {
        params: Box<ThreadSampleParams>,
        cancellable: Cancellable,
        reply: Reply<request::ThreadSample>,
    },
}

impl Verb {
    /// Whether the thread must know its history to deal with this.
    pub fn needs_history(&self) -> bool {
        match self {
            Verb::StartTurn { .. }
            | Verb::Compact { .. }
            | Verb::Shell { .. }
            | Verb::Review { .. }
            | Verb::Inject { .. }
            | Verb::Sample { .. } => true,
            Verb::Steer { .. }
            | Verb::Interrupt { .. }
            | Verb::Join { .. }
            | Verb::Rollback { .. }
            | Verb::Revert { .. }
            | Verb::UpdateSettings { .. }
            | Verb::UpdateTurnSettings { .. }
            | Verb::UpdateReadState { .. } => false,
        }
    }

    /// The method, as fail points name it.
    pub fn name(&self) -> &'static str {
        match self {
            Verb::StartTurn { .. } => "turn/start",
            Verb::Steer { .. } => "turn/steer",
            Verb::Interrupt { .. } => "turn/interrupt",
            Verb::Compact { .. } => "thread/compact/start",
            Verb::Shell { .. } => "thread/shellCommand",
            Verb::Review { .. } => "review/start",
            Verb::Join { .. } => "thread/resume",
            Verb::Rollback { .. } => "thread/rollback",
            Verb::Revert { .. } => "thread/revert",
            Verb::Inject { .. } => "thread/inject_items",
            Verb::UpdateSettings { .. } => "thread/settings/update",
            Verb::UpdateTurnSettings { .. } => "turn/settings/update",
            Verb::UpdateReadState { .. } => "thread/readState/update",
            Verb::Sample { .. } => "thread/sample",
        }
    }

    /// Answers a request that cannot be dealt with.
    pub async fn refuse(self, error: Refusal) {
        match self {
            Verb::StartTurn { reply, .. } => reply.send(Err(error)).await,
            Verb::Steer { reply, .. } => reply.send(Err(error)).await,
            Verb::Interrupt { reply, .. } => reply.send(Err(error)).await,
            Verb::Compact { reply } => reply.send(Err(error)).await,
            Verb::Shell { reply, .. } => reply.send(Err(error)).await,
            Verb::Review { reply, .. } => reply.send(Err(error)).await,
            Verb::Join { joining, .. } => joining.reply.refuse(error).await,
            Verb::Rollback { reply, .. } => reply.send(Err(error)).await,
            Verb::Revert { reply, .. } => reply.send(Err(error)).await,
            Verb::Inject { reply, .. } => reply.send(Err(error)).await,
            Verb::UpdateSettings { reply, .. } => reply.send(Err(error)).await,
            Verb::UpdateTurnSettings { reply, .. } => reply.send(Err(error)).await,
            Verb::UpdateReadState { reply, .. } => reply.send(Err(error)).await,
            Verb::Sample { reply, .. } => reply.send(Err(error)).await,
        }
    }
}

/// Does what a client asks for.
pub(super) async fn perform(actor: &mut Actor, verb: Verb) {
    if verb.needs_history()
        && let Err(error) = actor.load_history()
    {
        return verb.refuse(error).await;
    }
    match verb {
        Verb::StartTurn {
            params,
            client_name,
            reply,
        } => turn_start::start(actor, *params, client_name, reply).await,
        Verb::Steer { params, reply } => steer::steer(actor, params, reply).await,
        Verb::Interrupt { turn_id, reply } => interrupt(actor, &turn_id, reply).await,
        Verb::Compact { reply } => compact::start(actor, reply).await,
        Verb::Shell { command, reply } => shell::start(actor, command, reply).await,
        Verb::Review {
            params,
            merge_base,
            reply,
        } => review::start(actor, params, merge_base.as_deref(), reply).await,
        Verb::Join { client, joining } => join::join(actor, client, joining).await,
        Verb::Rollback { turns, reply } => rollback::rollback(actor, turns, reply).await,
        Verb::Revert { before, reply } => revert::revert(actor, before, reply).await,
        Verb::Inject { items, reply } => inject::inject(actor, items, reply).await,
        Verb::UpdateSettings { params, reply } => {
            settings_update::update(actor, *params, reply).await;
        }
        Verb::UpdateTurnSettings { params, reply } => {
            turn_settings::update(actor, *params, reply).await;
        }
        Verb::UpdateReadState { params, reply } => {
            read_state::update(actor, &params, reply).await;
        }
        Verb::Sample {
            params,
            cancellable,
            reply,
        } => sample::sample(actor, params, cancellable, reply).await,
    }
}

async fn interrupt(actor: &mut Actor, turn_id: &TurnId, reply: Reply<request::TurnInterrupt>) {
    let engine = &actor.engine;
    let active = engine.active_turn().map(|it| it.as_str());
    let active = active.filter(|_| !engine.has_waiting_turn(turn_id));
    if let Some(reply) = actor.replies.interrupt(turn_id, active, reply).await {
        actor.step(Input::Interrupt { reply: Some(reply) }).await;
    }
}
