//! `experimentalFeature/enablement/set`: switches features until the server ends.

use quipu_config::{Feature, LoadRequest};
use quipu_wire::method::request::ExperimentalFeatureEnablementSet;
use quipu_wire::{
    ExperimentalFeatureEnablementSetParams, ExperimentalFeatureEnablementSetResponse,
};

use super::Handler;
use crate::blocking::blocking;
use crate::{Cx, Refusal, Server, apps};

impl Handler for ExperimentalFeatureEnablementSet {
    async fn run(
        cx: Cx,
        params: ExperimentalFeatureEnablementSetParams,
    ) -> Result<Self::Result, Refusal> {
        let set = blocking(&cx.server, move |server| set(server, params)).await;
        let answer = set.and_then(|answer| answer);
        let answer = answer?;
        cx.server.threads.reload_settings().await;
        if answer.enablement.get(Feature::Apps.name()) == Some(&true) {
            apps::refresh(&cx.server, cx.config().await?);
        }
        Ok(answer)
    }
}

fn set(
    server: &Server,
    params: ExperimentalFeatureEnablementSetParams,
) -> Result<ExperimentalFeatureEnablementSetResponse, Refusal> {
    let (config, enablement) = (&server.settings.config, params.enablement);
    config
        .set_enablement(&enablement)
        .map_err(|error| Refusal::invalid_request(error.to_string()))?;
    // Whether a switch counts depends on the files.
    config.load(&LoadRequest::default()).map_err(|error| {
        Refusal::internal(format!(
            "failed to resolve feature override precedence: {error}"
        ))
    })?;
    Ok(ExperimentalFeatureEnablementSetResponse { enablement })
}
