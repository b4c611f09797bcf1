//! `experimentalFeature/list`: the switches of the program, and which are on.

use quipu_config::{Feature, Features, Stage};
use quipu_wire::method::request::ExperimentalFeatureList;
use quipu_wire::{
    ExperimentalFeature, ExperimentalFeatureListParams, ExperimentalFeatureListResponse,
    ExperimentalFeatureStage,
};

use super::Handler;
use crate::paging::page;
use crate::{Cx, Refusal};

impl Handler for ExperimentalFeatureList {
    async fn run(cx: Cx, params: ExperimentalFeatureListParams) -> Result<Self::Result, Refusal> {
        list(&cx, &params).await
    }
}

async fn list(
    cx: &Cx,
    params: &ExperimentalFeatureListParams,
) -> Result<ExperimentalFeatureListResponse, Refusal> {
    let snapshot = cx.config().await?;
    let all = Feature::ALL.iter();
    let features = all
        .map(|feature| describe(*feature, snapshot.features()))
        .collect();
    let cursor = params.cursor.as_deref();
    let page = page(features, cursor, params.limit, "feature flags")?;
    Ok(ExperimentalFeatureListResponse {
        data: page.data,
        next_cursor: page.next_cursor,
    })
}

fn describe(feature: Feature, features: &Features) -> ExperimentalFeature {
    ExperimentalFeature {
        name: feature.name().to_owned(),
        stage: match feature.stage() {
            Stage::Stable => ExperimentalFeatureStage::Stable,
            Stage::UnderDevelopment => ExperimentalFeatureStage::UnderDevelopment,
            Stage::Deprecated => ExperimentalFeatureStage::Deprecated,
            Stage::Removed | Stage::NoEffect => ExperimentalFeatureStage::Removed,
        },
        display_name: None,
        description: None,
        announcement: None,
        enabled: features.enabled(feature),
        default_enabled: feature.default_enabled(),
    }
}
