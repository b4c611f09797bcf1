//! Settings of a thread that a client changes, and how all clients learn of it.

use quipu_wire::method::request;
use quipu_wire::{
    ActivePermissionProfile, MultiAgentMode, ServerNotification, ThreadSettings,
    ThreadSettingsUpdateParams, ThreadSettingsUpdateResponse, ThreadSettingsUpdatedNotification,
    TurnStartParams,
};

use super::actor::Actor;
use super::rights;
use super::session::Session;
use crate::{Refusal, Reply};

/// Changes the settings for later turns, as `turn/start` does.
pub(super) async fn update(
    actor: &mut Actor,
    params: ThreadSettingsUpdateParams,
    reply: Reply<request::ThreadSettingsUpdate>,
) {
    let before = settings(&actor.session);
    let changed = change(actor, params);
    let answer = changed.map(|()| ThreadSettingsUpdateResponse {});
    reply.send(answer).await;
    notify_changes(actor, &before).await;
}

fn change(actor: &mut Actor, params: ThreadSettingsUpdateParams) -> Result<(), Refusal> {
    let params = TurnStartParams {
        thread_id: params.thread_id,
        cwd: params.cwd,
        approval_policy: params.approval_policy,
        approvals_reviewer: params.approvals_reviewer,
        sandbox_policy: params.sandbox_policy,
        permissions: params.permissions,
        disabled_plugin_ids: params.disabled_plugin_ids,
        model: params.model,
        service_tier: params.service_tier,
        effort: params.effort,
        summary: params.summary,
        collaboration_mode: params.collaboration_mode,
        personality: params.personality,
        ..TurnStartParams::default()
    };
    let rights = tokio::task::block_in_place(|| actor.session.rights(&actor.server, &params))?;
    rights::change_session(actor, rights, &params);
    Ok(())
}

/// Notifies clients of settings that are not as they were.
pub(super) async fn notify_changes(actor: &mut Actor, before: &ThreadSettings) {
    let thread_settings = settings(&actor.session);
    if thread_settings == *before {
        return;
    }
    let params = ThreadSettingsUpdatedNotification {
        thread_id: actor.handle.id.to_string(),
        thread_settings,
    };
    let updated = ServerNotification::ThreadSettingsUpdated(params);
    actor.audience.notify(&updated).await;
}

/// The permission profile that a client chose, if one did.
pub(super) fn active_profile(session: &Session) -> Option<ActivePermissionProfile> {
    let id = session.asked.permissions.clone()?;
    Some(ActivePermissionProfile { id, extends: None })
}

/// The settings as clients see them, in words that all versions know.
pub(super) fn settings(session: &Session) -> ThreadSettings {
    let words = crate::words::Words::default();
    let mut mode = session.mode.clone();
    let effort = &mut mode.settings.reasoning_effort;
    *effort = effort.map(|it| words.effort(it));
    ThreadSettings {
        disabled_plugin_ids: Vec::new(),
        cwd: session.cwd_text(),
        approval_policy: words.policy(session.approval_policy.clone()),
        approvals_reviewer: session.approvals_reviewer,
        sandbox_policy: session.sandbox.clone(),
        active_permission_profile: active_profile(session),
        model: session.model.clone(),
        model_provider: session.provider.id.clone(),
        service_tier: words.tier(session.service_tier),
        effort: session.effort.map(|it| words.effort(it)),
        summary: session.summary,
        collaboration_mode: mode,
        multi_agent_mode: MultiAgentMode::ExplicitRequestOnly,
        personality: session.personality,
    }
}
