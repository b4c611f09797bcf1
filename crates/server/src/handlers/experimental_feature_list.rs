//! `experimentalFeature/list`: no features are offered yet.

use quipu_wire::method::request::ExperimentalFeatureList;
use quipu_wire::{ExperimentalFeatureListParams, ExperimentalFeatureListResponse};

use super::Handler;
use crate::{Cx, Reply};

impl Handler for ExperimentalFeatureList {
    async fn handle(_cx: Cx, _params: ExperimentalFeatureListParams, reply: Reply<Self>) {
        let empty = ExperimentalFeatureListResponse {
            data: Vec::new(),
            next_cursor: None,
        };
        reply.send(Ok(empty)).await;
    }
}
