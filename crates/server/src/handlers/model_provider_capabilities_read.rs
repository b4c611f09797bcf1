//! `modelProvider/capabilities/read`: what the provider in use can do besides answering.

use quipu_config::Feature;
use quipu_model::WireApi;
use quipu_wire::method::request::ModelProviderCapabilitiesRead;
use quipu_wire::{ModelProviderCapabilitiesReadParams, ModelProviderCapabilitiesReadResponse};

use super::Handler;
use crate::{Cx, Refusal, providers};

impl Handler for ModelProviderCapabilitiesRead {
    async fn run(
        cx: Cx,
        _params: ModelProviderCapabilitiesReadParams,
    ) -> Result<Self::Result, Refusal> {
        let settings = cx.config().await?;
        let provider = providers::in_use(&cx.server, &settings)?;
        // Both are tools of the Responses API.
        let has_tools = provider.wire_api == WireApi::Responses;
        let makes_images = settings.features().enabled(Feature::ImageGeneration);
        Ok(ModelProviderCapabilitiesReadResponse {
            image_generation: has_tools && makes_images,
            web_search: has_tools,
        })
    }
}
