//! `model/list`: no models are offered yet.

use quipu_wire::method::request::ModelList;
use quipu_wire::{ModelListParams, ModelListResponse};

use super::Handler;
use crate::{Cx, Reply};

impl Handler for ModelList {
    async fn handle(_cx: Cx, _params: ModelListParams, reply: Reply<Self>) {
        let empty = ModelListResponse {
            data: Vec::new(),
            next_cursor: None,
        };
        reply.send(Ok(empty)).await;
    }
}
