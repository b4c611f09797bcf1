//! `model/list`: the models to pick from.

use quipu_wire::method::request::ModelList;
use quipu_wire::{ModelListParams, ModelListResponse};

use super::Handler;
use crate::blocking::blocking;
use crate::{Cx, Refusal, models, providers};

impl Handler for ModelList {
    async fn run(cx: Cx, params: ModelListParams) -> Result<Self::Result, Refusal> {
        list(&cx, &params).await
    }
}

async fn list(cx: &Cx, params: &ModelListParams) -> Result<ModelListResponse, Refusal> {
    let (snapshot, provider) = blocking(&cx.server, |server| {
        // With settings that cannot be used, the defaults are in force.
        let start_up = server
            .settings
            .config
            .start_up()
            .map_err(Refusal::config_unreadable)?;
        let provider = providers::in_use(server, &start_up.snapshot)?;
        Ok::<_, Refusal>((start_up.snapshot, provider))
    })
    .await??;
    let models = models::list(&cx.server, &snapshot, &provider).await;
    let hidden = params.include_hidden.unwrap_or_default();
    quipu_model::catalogue::page(&models, hidden, params.cursor.as_deref(), params.limit)
        .map_err(|error| Refusal::invalid_request(error.to_string()))
}
