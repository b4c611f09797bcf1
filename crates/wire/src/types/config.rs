//! MODDOC

use std::collections::BTreeMap;

use quipu_wire_macros::wire;

use crate::{AbsolutePath, Config, Json};

/// Parameters of `config/read`.
#[wire(params, default)]
pub struct ConfigReadParams {
    #[wire(default)]
    pub include_layers: bool,
    pub cwd: Option<String>,
}

/// DOC
#[wire(exhaustive)]
pub enum MergeStrategy {
    Replace,
    Upsert,
}

/// Parameters of `config/value/write`.
#[wire(params)]
pub struct ConfigValueWriteParams {
    pub key_path: String,
    pub value: Json,
    pub merge_strategy: MergeStrategy,
    pub file_path: Option<String>,
    pub expected_version: Option<String>,
}

/// DOC
#[wire]
pub struct ConfigEdit {
    pub key_path: String,
    pub value: Json,
    pub merge_strategy: MergeStrategy,
}

/// Parameters of `config/batchWrite`.
#[wire(params, default)]
pub struct ConfigBatchWriteParams {
    pub edits: Vec<ConfigEdit>,
    pub file_path: Option<String>,
    pub expected_version: Option<String>,
    #[wire(sparse)]
    pub reload_user_config: bool,
}

/// DOC
#[wire]
pub struct ConfigLayer {
    pub name: ConfigLayerSource,
    pub version: String,
    pub config: Json,
    pub disabled_reason: Option<String>,
}

/// DOC
#[wire]
pub struct ConfigLayerMetadata {
    pub name: ConfigLayerSource,
    pub version: String,
}

/// DOC
#[wire(tag = "type")]
pub enum ConfigLayerSource {
    Mdm { domain: String, key: String },
    System { file: AbsolutePath },
    User { file: AbsolutePath },
    Project { dot_codex_folder: AbsolutePath },
    SessionFlags,
    LegacyManagedConfigTomlFromFile { file: AbsolutePath },
    LegacyManagedConfigTomlFromMdm,
}

/// Result of `config/read`.
#[wire]
pub struct ConfigReadResponse {
    pub config: Config,
    pub origins: BTreeMap<String, ConfigLayerMetadata>,
    pub layers: Option<Vec<ConfigLayer>>,
}

/// DOC
#[wire]
pub struct OverriddenMetadata {
    pub message: String,
    pub overriding_layer: ConfigLayerMetadata,
    pub effective_value: Json,
}

/// DOC
#[wire]
pub enum WriteStatus {
    Ok,
    OkOverridden,
}

/// Result of `config/value/write` and `config/batchWrite`.
#[wire]
pub struct ConfigWriteResponse {
    pub status: WriteStatus,
    pub version: String,
    pub file_path: AbsolutePath,
    pub overridden_metadata: Option<OverriddenMetadata>,
}

/// Parameters of the notification `deprecationNotice`.
#[wire]
pub struct DeprecationNoticeNotification {
    pub summary: String,
    pub details: Option<String>,
}

/// DOC
#[wire]
pub struct TextPosition {
    pub line: usize,
    pub column: usize,
}

/// DOC
#[wire]
pub struct TextRange {
    pub start: TextPosition,
    pub end: TextPosition,
}

/// Parameters of the notification `configWarning`.
#[wire]
pub struct ConfigWarningNotification {
    pub summary: String,
    pub details: Option<String>,
    #[wire(sparse)]
    pub path: Option<String>,
    #[wire(sparse)]
    pub range: Option<TextRange>,
}
