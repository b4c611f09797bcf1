//! MODDOC

use std::collections::BTreeMap;

use quipu_wire_macros::wire;

use crate::ReasoningEffort;

/// Parameters of `model/list`.
#[wire(params, default)]
pub struct ModelListParams {
    pub cursor: Option<String>,
    pub limit: Option<u32>,
    pub include_hidden: Option<bool>,
}

/// Parameters of `experimentalFeature/list`.
#[wire(params, default)]
pub struct ExperimentalFeatureListParams {
    pub cursor: Option<String>,
    pub limit: Option<u32>,
}

/// Parameters of `experimentalFeature/enablement/set`.
#[wire(params, default)]
pub struct ExperimentalFeatureEnablementSetParams {
    pub enablement: BTreeMap<String, bool>,
}

/// Parameters of `mock/experimentalMethod`.
#[wire(params, default)]
pub struct MockExperimentalMethodParams {
    pub value: Option<String>,
}

/// DOC
#[wire(root, apart)]
pub enum InputModality {
    Text,
    Image,
}

/// DOC
#[wire]
pub struct Model {
    pub id: String,
    pub model: String,
    pub upgrade: Option<String>,
    pub upgrade_info: Option<ModelUpgradeInfo>,
    pub availability_nux: Option<ModelAvailabilityNux>,
    pub display_name: String,
    pub description: String,
    pub hidden: bool,
    pub supported_reasoning_efforts: Vec<ReasoningEffortOption>,
    pub default_reasoning_effort: ReasoningEffort,
    #[wire(default = "[\"text\", \"image\"]")]
    pub input_modalities: Vec<InputModality>,
    #[wire(default)]
    pub supports_personality: bool,
    pub is_default: bool,
}

/// DOC
#[wire]
pub struct ModelAvailabilityNux {
    pub message: String,
}

/// DOC
#[wire]
pub struct ModelUpgradeInfo {
    pub model: String,
    pub upgrade_copy: Option<String>,
    pub model_link: Option<String>,
    pub migration_markdown: Option<String>,
}

/// DOC
#[wire]
pub struct ReasoningEffortOption {
    pub reasoning_effort: ReasoningEffort,
    pub description: String,
}

/// Result of `model/list`.
#[wire]
pub struct ModelListResponse {
    pub data: Vec<Model>,
    pub next_cursor: Option<String>,
}

/// DOC
#[wire]
pub struct ExperimentalFeature {
    pub name: String,
    pub stage: ExperimentalFeatureStage,
    pub display_name: Option<String>,
    pub description: Option<String>,
    pub announcement: Option<String>,
    pub enabled: bool,
    pub default_enabled: bool,
}

/// DOC
#[wire(apart)]
pub enum ExperimentalFeatureStage {
    Beta,
    UnderDevelopment,
    Stable,
    Deprecated,
    Removed,
}

/// Result of `experimentalFeature/list`.
#[wire]
pub struct ExperimentalFeatureListResponse {
    pub data: Vec<ExperimentalFeature>,
    pub next_cursor: Option<String>,
}

/// Result of `experimentalFeature/enablement/set`.
#[wire]
pub struct ExperimentalFeatureEnablementSetResponse {
    pub enablement: BTreeMap<String, bool>,
}

/// Result of `mock/experimentalMethod`.
#[wire]
pub struct MockExperimentalMethodResponse {
    pub echoed: Option<String>,
}
