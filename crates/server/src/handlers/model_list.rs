//! `model/list`: the models to pick from.

use quipu_rpc::ErrorObject;
use quipu_wire::method::request::ModelList;
use quipu_wire::{ModelListParams, ModelListResponse};

use super::Handler;
use crate::blocking::blocking;
use crate::{Cx, Reply, models, providers};

impl Handler for ModelList {
    async fn handle(cx: Cx, params: ModelListParams, reply: Reply<Self>) {
        reply.send(list(&cx, &params).await).await;
    }
}

async fn list(cx: &Cx, params: &ModelListParams) -> Result<ModelListResponse, ErrorObject> {
    let (snapshot, provider) = blocking(&cx.server, |server| {
        // With settings that cannot be used, the defaults are in force.
        let start_up =
            server.settings.config.start_up().map_err(|error| {
                ErrorObject::internal(format!("failed to reload config: {error}"))
            })?;
        let provider = providers::in_use(server, &start_up.snapshot)?;
        Ok::<_, ErrorObject>((start_up.snapshot, provider))
    })
    .await??;
    let models = models::list(&cx.server, &snapshot, &provider).await;
    let hidden = params.include_hidden.unwrap_or_default();
    quipu_model::catalogue::page(&models, hidden, params.cursor.as_deref(), params.limit)
        .map_err(|error| ErrorObject::invalid_request(error.to_string()))
}
