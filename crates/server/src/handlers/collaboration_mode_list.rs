//! `collaborationMode/list`: the ways of working together.

use quipu_wire::method::request::CollaborationModeList;
use quipu_wire::{
    CollaborationModeListParams, CollaborationModeListResponse, CollaborationModeMask, ModeKind,
    ReasoningEffort,
};

use super::Handler;
use crate::{Cx, Reply};

impl Handler for CollaborationModeList {
    async fn handle(_cx: Cx, _params: CollaborationModeListParams, reply: Reply<Self>) {
        let preset = |name: &str, mode, reasoning_effort| CollaborationModeMask {
            name: name.to_owned(),
            mode: Some(mode),
            model: None,
            reasoning_effort: Some(reasoning_effort),
        };
        let data = vec![
            preset("Plan", ModeKind::Plan, Some(ReasoningEffort::Medium)),
            preset("Default", ModeKind::Default, None),
        ];
        reply.send(Ok(CollaborationModeListResponse { data })).await;
    }
}
