//! `collaborationMode/list`: no presets are offered yet.

use quipu_wire::method::request::CollaborationModeList;
use quipu_wire::{CollaborationModeListParams, CollaborationModeListResponse};

use super::Handler;
use crate::{Cx, Reply};

impl Handler for CollaborationModeList {
    async fn handle(_cx: Cx, _params: CollaborationModeListParams, reply: Reply<Self>) {
        let empty = CollaborationModeListResponse { data: Vec::new() };
        reply.send(Ok(empty)).await;
    }
}
