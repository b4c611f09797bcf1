//! `collaborationMode/list`: the ways of working together.

use quipu_wire::method::request::CollaborationModeList;
use quipu_wire::{
    CollaborationModeListParams, CollaborationModeListResponse, CollaborationModeMask, ModeKind,
    ReasoningEffort,
};

use super::Handler;
use crate::{Cx, Refusal};

impl Handler for CollaborationModeList {
    async fn run(cx: Cx, _params: CollaborationModeListParams) -> Result<Self::Result, Refusal> {
        list(&cx).await
    }
}

async fn list(cx: &Cx) -> Result<CollaborationModeListResponse, Refusal> {
    let configured = cx.config().await?.model().plan_mode_reasoning_effort;
    let plan_effort = configured.unwrap_or(ReasoningEffort::Medium);
    let plan_effort = cx.client.words.effort(plan_effort);
    let preset = |name: &str, mode, reasoning_effort| CollaborationModeMask {
        name: name.to_owned(),
        mode: Some(mode),
        model: None,
        reasoning_effort: Some(reasoning_effort),
    };
    let data = vec![
        preset("Plan", ModeKind::Plan, Some(plan_effort)),
        preset("Default", ModeKind::Default, None),
    ];
    Ok(CollaborationModeListResponse { data })
}
