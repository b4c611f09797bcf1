//! `account/bedrock/checkGovCloudRequirements`: the official terminal interface asks this at its start.

use quipu_wire::method::request::AccountBedrockCheckGovCloudRequirements;
use quipu_wire::{
    BedrockCheckGovCloudRequirementsParams, BedrockCheckGovCloudRequirementsResponse,
};

use super::Handler;
use crate::{Cx, Refusal};

impl Handler for AccountBedrockCheckGovCloudRequirements {
    async fn run(
        _cx: Cx,
        _params: BedrockCheckGovCloudRequirementsParams,
    ) -> Result<Self::Result, Refusal> {
        // No account of Amazon Bedrock is managed, so none is in such a region.
        Ok(BedrockCheckGovCloudRequirementsResponse {
            is_gov_cloud: false,
            should_warn: false,
        })
    }
}
