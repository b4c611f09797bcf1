//! `skills/list`: no skills are found yet.

use quipu_wire::method::request::SkillsList;
use quipu_wire::{SkillsListParams, SkillsListResponse};

use super::Handler;
use crate::{Cx, Reply};

impl Handler for SkillsList {
    async fn handle(_cx: Cx, _params: SkillsListParams, reply: Reply<Self>) {
        let empty = SkillsListResponse { data: Vec::new() };
        reply.send(Ok(empty)).await;
    }
}
