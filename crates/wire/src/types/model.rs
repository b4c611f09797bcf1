//! The models to choose from, and the features to switch on.

use std::collections::BTreeMap;

use quipu_wire_macros::wire;

use crate::ReasoningEffort;

/// Parameters of `model/list`.
#[wire(params, default)]
pub struct ModelListParams {
    /// The `nextCursor` of the page before; absent for the first.
    pub cursor: Option<String>,
    /// Models per page; all if absent.
    pub limit: Option<u32>,
    /// Also returns models that are not meant to be picked; `false` if absent.
    pub include_hidden: Option<bool>,
}

/// Parameters of `experimentalFeature/list`.
#[wire(params, default)]
pub struct ExperimentalFeatureListParams {
    /// The `nextCursor` of the page before; absent for the first.
    pub cursor: Option<String>,
    /// Features per page; all if absent.
    pub limit: Option<u32>,
}

/// Parameters of `experimentalFeature/enablement/set`.
#[wire(params, default)]
pub struct ExperimentalFeatureEnablementSetParams {
    /// Features to switch by name, until the server exits. What the configuration sets still wins.
    pub enablement: BTreeMap<String, bool>,
}

/// Parameters of `mock/experimentalMethod`.
#[wire(params, default)]
pub struct MockExperimentalMethodParams {
    pub value: Option<String>,
}

/// A kind of input.
#[wire(root, apart)]
pub enum InputModality {
    Text,
    Image,
}

/// A model to choose from.
#[wire]
pub struct Model {
    /// Identifies the model in the list.
    pub id: String,
    /// The name to give in `thread/start` and `turn/start`.
    pub model: String,
    /// The model to use instead, if there is a better one.
    pub upgrade: Option<String>,
    /// What to tell the user about that model.
    pub upgrade_info: Option<ModelUpgradeInfo>,
    /// What to tell the user about this model when it is new.
    pub availability_nux: Option<ModelAvailabilityNux>,
    pub display_name: String,
    pub description: String,
    /// Whether it is not meant to be picked; only with `includeHidden`.
    pub hidden: bool,
    pub supported_reasoning_efforts: Vec<ReasoningEffortOption>,
    /// `none` if the model has no default.
    pub default_reasoning_effort: ReasoningEffort,
    #[wire(default = "[\"text\", \"image\"]")]
    pub input_modalities: Vec<InputModality>,
    /// Whether `personality` has an effect.
    #[wire(default)]
    pub supports_personality: bool,
    /// Whether it is used when nothing is configured; true of one model.
    pub is_default: bool,
}

/// An announcement of a model.
#[wire]
pub struct ModelAvailabilityNux {
    pub message: String,
}

/// What to tell the user about a model to use instead.
#[wire]
pub struct ModelUpgradeInfo {
    pub model: String,
    /// A line for it; servers send null.
    pub upgrade_copy: Option<String>,
    /// A page about it; servers send null.
    pub model_link: Option<String>,
    /// What changes for the user, in Markdown.
    pub migration_markdown: Option<String>,
}

/// An effort that a model supports.
#[wire]
pub struct ReasoningEffortOption {
    pub reasoning_effort: ReasoningEffort,
    /// What it is good for.
    pub description: String,
}

/// Result of `model/list`.
#[wire]
pub struct ModelListResponse {
    /// In the order to show them.
    pub data: Vec<Model>,
    /// Null on the last page.
    pub next_cursor: Option<String>,
}

/// A feature that can be switched on and off.
#[wire]
pub struct ExperimentalFeature {
    /// The key in the table `[features]`.
    pub name: String,
    pub stage: ExperimentalFeatureStage,
    /// Null unless in `beta`.
    pub display_name: Option<String>,
    /// Null unless in `beta`.
    pub description: Option<String>,
    /// Null unless in `beta`.
    pub announcement: Option<String>,
    /// Whether it is on now.
    pub enabled: bool,
    /// Whether it is on if nothing is configured.
    pub default_enabled: bool,
}

/// How ready a feature is.
#[wire(apart)]
pub enum ExperimentalFeatureStage {
    /// Ready for users who want to try it.
    Beta,
    /// Not ready for use.
    UnderDevelopment,
    Stable,
    /// Going to be removed.
    Deprecated,
    /// Still accepted, but without effect.
    Removed,
}

/// Result of `experimentalFeature/list`.
#[wire]
pub struct ExperimentalFeatureListResponse {
    pub data: Vec<ExperimentalFeature>,
    /// Null on the last page.
    pub next_cursor: Option<String>,
}

/// Result of `experimentalFeature/enablement/set`.
#[wire]
pub struct ExperimentalFeatureEnablementSetResponse {
    /// The same as in the request.
    pub enablement: BTreeMap<String, bool>,
}

/// Result of `mock/experimentalMethod`.
#[wire]
pub struct MockExperimentalMethodResponse {
    pub echoed: Option<String>,
}

/// Parameters of `modelProvider/capabilities/read`.
#[wire(params, default)]
pub struct ModelProviderCapabilitiesReadParams {}

/// Result of `modelProvider/capabilities/read`: what the provider in use can do besides answering.
#[wire]
pub struct ModelProviderCapabilitiesReadResponse {
    pub image_generation: bool,
    pub web_search: bool,
}
