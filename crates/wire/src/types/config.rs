//! Reading and editing the layered configuration, and warnings about it.

use std::collections::BTreeMap;

use quipu_wire_macros::wire;

use crate::{AbsolutePath, Config, Json};

/// Parameters of `config/read`.
#[wire(params, default)]
pub struct ConfigReadParams {
    /// Also returns each layer with its own values.
    #[wire(default)]
    pub include_layers: bool,
    /// The directory whose project layers count; without it there are none.
    pub cwd: Option<String>,
}

/// How a new value meets the old one.
#[wire(exhaustive)]
pub enum MergeStrategy {
    /// Puts the new value in the place of the old one.
    Replace,
    /// Merges two tables key by key; replaces anything else.
    Upsert,
}

/// Parameters of `config/value/write`.
#[wire(params)]
pub struct ConfigValueWriteParams {
    /// The dotted path of the key; keys that themselves contain a dot cannot be addressed.
    pub key_path: String,
    /// The new value; null deletes the key.
    pub value: Json,
    pub merge_strategy: MergeStrategy,
    /// Must be the user's `config.toml`, which is also the default.
    pub file_path: Option<String>,
    /// The `version` of the user layer that the client knows; if it has changed, nothing is
    /// written.
    pub expected_version: Option<String>,
}

/// One edit of several.
#[wire]
pub struct ConfigEdit {
    /// The dotted path of the key; keys that themselves contain a dot cannot be addressed.
    pub key_path: String,
    /// The new value; null deletes the key.
    pub value: Json,
    pub merge_strategy: MergeStrategy,
}

/// Parameters of `config/batchWrite`.
#[wire(params, default)]
pub struct ConfigBatchWriteParams {
    /// Applied in order, all or none.
    pub edits: Vec<ConfigEdit>,
    /// Must be the user's `config.toml`, which is also the default.
    pub file_path: Option<String>,
    /// The `version` of the user layer that the client knows; if it has changed, nothing is
    /// written.
    pub expected_version: Option<String>,
    /// Lets loaded threads use the new values from their next turn on.
    #[wire(sparse)]
    pub reload_user_config: bool,
}

/// One source of settings, with what it sets.
#[wire]
pub struct ConfigLayer {
    pub name: ConfigLayerSource,
    /// Changes with the content: `sha256:` and a hash in hex.
    pub version: String,
    /// The values of this layer alone.
    pub config: Json,
    /// Why the layer does not count, such as an untrusted project; absent if it counts.
    #[wire(omitted)]
    pub disabled_reason: Option<String>,
}

/// One source of settings.
#[wire]
pub struct ConfigLayerMetadata {
    pub name: ConfigLayerSource,
    /// Changes with the content: `sha256:` and a hash in hex.
    pub version: String,
}

/// Where a layer comes from; each kind here wins over the ones before it.
#[wire(tag = "type")]
pub enum ConfigLayerSource {
    /// Device management; reserved, no server sends it.
    Mdm { domain: String, key: String },
    /// Settings for the whole machine.
    System {
        /// `/etc/codex/config.toml`, which need not exist.
        file: AbsolutePath,
    },
    /// Settings of the user.
    User {
        /// `config.toml` in the Codex home, which need not exist.
        file: AbsolutePath,
    },
    /// Settings of a trusted project; the directory nearest to the working directory wins.
    Project {
        /// A `.codex` directory between the project's root and the working directory.
        dot_codex_folder: AbsolutePath,
    },
    /// Overrides on the server's command line.
    SessionFlags,
    /// Settings of an administrator, in the older form.
    LegacyManagedConfigTomlFromFile {
        /// `/etc/codex/managed_config.toml`.
        file: AbsolutePath,
    },
    /// The same settings from macOS managed preferences.
    LegacyManagedConfigTomlFromMdm,
}

/// Result of `config/read`.
#[wire]
pub struct ConfigReadResponse {
    /// The effective values, without those of the selected profile.
    pub config: Config,
    /// For each single value that a layer sets, by dotted path, the layer that won.
    pub origins: BTreeMap<String, ConfigLayerMetadata>,
    /// The strongest first, disabled ones included; absent unless asked for.
    #[wire(omitted)]
    pub layers: Option<Vec<ConfigLayer>>,
}

/// Why a written value does not take effect.
#[wire]
pub struct OverriddenMetadata {
    /// The reason in words, naming the stronger layer.
    pub message: String,
    pub overriding_layer: ConfigLayerMetadata,
    /// The value that counts instead.
    pub effective_value: Json,
}

/// Whether a written value takes effect.
#[wire]
pub enum WriteStatus {
    /// It is written and counts.
    Ok,
    /// It is written, but a stronger layer has the last word.
    OkOverridden,
}

/// Result of `config/value/write` and `config/batchWrite`.
#[wire]
pub struct ConfigWriteResponse {
    pub status: WriteStatus,
    /// The user layer's new version, to give as the next `expectedVersion`.
    pub version: String,
    pub file_path: AbsolutePath,
    /// Set with `okOverridden`, about the first value concerned.
    pub overridden_metadata: Option<OverriddenMetadata>,
}

/// Parameters of the notification `deprecationNotice`.
#[wire]
pub struct DeprecationNoticeNotification {
    /// What is deprecated.
    pub summary: String,
    /// Why, and what to do instead, if there is more to say.
    pub details: Option<String>,
}

/// A place in a text file; both numbers count from 1.
#[wire]
pub struct TextPosition {
    pub line: usize,
    /// Counted in characters.
    pub column: usize,
}

/// A stretch of a text file.
#[wire]
pub struct TextRange {
    pub start: TextPosition,
    pub end: TextPosition,
}

/// Parameters of the notification `configWarning`.
#[wire]
pub struct ConfigWarningNotification {
    /// What is wrong, in one line.
    pub summary: String,
    /// What exactly is wrong, if there is more to say.
    pub details: Option<String>,
    /// The file at fault, if it is a single one.
    #[wire(sparse)]
    pub path: Option<String>,
    /// The place in that file.
    #[wire(sparse)]
    pub range: Option<TextRange>,
}
