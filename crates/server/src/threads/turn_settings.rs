//! `turn/settings/update`: settings that hold for the rest of one turn. They take the place of the thread's, which come
//! back when the turn ends.

use std::sync::Arc;

use quipu_config::Feature;
use quipu_model::catalogue::ModelInfo;
use quipu_wire::method::request;
use quipu_wire::{
    ApprovalsReviewer, CollaborationMode, ReasoningEffort, ReasoningSummary, ServiceTier,
    TurnSettingsUpdateParams, TurnSettingsUpdateResponse, TurnSettingsUpdateStatus,
    TurnStartParams,
};

use super::actor::Actor;
use super::session::Session;
use crate::{Refusal, Reply};

/// What a turn has changed for itself.
pub(super) struct TurnChoice {
    /// What clients chose for it.
    chosen: TurnStartParams,
    before: Before,
}

/// The settings of a thread that a turn may change for itself.
struct Before {
    model: String,
    info: Arc<ModelInfo>,
    mode: CollaborationMode,
    effort: Option<ReasoningEffort>,
    summary: Option<ReasoningSummary>,
    service_tier: Option<ServiceTier>,
    approvals_reviewer: ApprovalsReviewer,
}

impl Before {
    fn of(session: &Session) -> Before {
        Before {
            model: session.model.clone(),
            info: Arc::clone(&session.info),
            mode: session.mode.clone(),
            effort: session.effort,
            summary: session.summary,
            service_tier: session.service_tier,
            approvals_reviewer: session.approvals_reviewer,
        }
    }

    fn restore(self, session: &mut Session) {
        session.model = self.model;
        session.info = self.info;
        session.mode = self.mode;
        session.effort = self.effort;
        session.summary = self.summary;
        session.service_tier = self.service_tier;
        session.approvals_reviewer = self.approvals_reviewer;
    }
}

/// Changes the settings of the running turn.
pub(super) async fn update(
    actor: &mut Actor,
    params: TurnSettingsUpdateParams,
    reply: Reply<request::TurnSettingsUpdate>,
) {
    let status = change(actor, params);
    let answer = status.map(|status| TurnSettingsUpdateResponse { status });
    reply.send(answer).await;
}

fn change(
    actor: &mut Actor,
    params: TurnSettingsUpdateParams,
) -> Result<TurnSettingsUpdateStatus, Refusal> {
    let asks_for_more = params.approvals_reviewer.is_none()
        || params.model.is_some()
        || params.effort.is_some()
        || params.summary.is_some()
        || params.service_tier.is_some();
    if asks_for_more && !actor.session.has_feature(Feature::StepModelSwitching) {
        let text = "turn settings updates require the step_model_switching feature";
        return Err(Refusal::invalid_request(text));
    }
    let active = actor.engine.active_turn();
    if active.is_none_or(|turn| turn.as_str() != params.turn_id) {
        return Ok(TurnSettingsUpdateStatus::TargetUnavailable);
    }
    let mut chosen = suspend(actor).unwrap_or_default();
    chosen.approvals_reviewer = params.approvals_reviewer.or(chosen.approvals_reviewer);
    chosen.model = params.model.or(chosen.model);
    chosen.effort = params.effort.or(chosen.effort);
    chosen.summary = params.summary.or(chosen.summary);
    chosen.service_tier = params.service_tier.or(chosen.service_tier);
    resume(actor, Some(chosen));
    Ok(TurnSettingsUpdateStatus::Applied)
}

/// Puts the thread's own settings in force, because the turn has ended or because they are about to change.
pub(super) fn suspend(actor: &mut Actor) -> Option<TurnStartParams> {
    let TurnChoice { chosen, before } = *actor.sampler.take_choice()?;
    before.restore(&mut actor.session);
    actor.sampler.forget_tools();
    Some(chosen)
}

/// Puts what was chosen for the running turn in force again.
pub(super) fn resume(actor: &mut Actor, chosen: Option<TurnStartParams>) {
    let Some(chosen) = chosen else {
        return;
    };
    let before = Before::of(&actor.session);
    actor.session.change(&actor.server, &chosen);
    actor
        .sampler
        .keep_choice(Box::new(TurnChoice { chosen, before }));
    actor.sampler.forget_tools();
}
