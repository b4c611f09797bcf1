//! MODDOC

use std::collections::BTreeMap;

use quipu_wire_macros::wire;

use crate::{
    AbsolutePath, ApprovalsReviewer, AskForApproval, Json, ReasoningEffort, ReasoningSummary,
    SandboxMode, ServiceTier,
};

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
#[wire(open)]
pub struct AnalyticsConfig {
    pub enabled: Option<bool>,
    #[wire(flatten)]
    pub additional: BTreeMap<String, Json>,
}

/// DOC
#[wire(no_ts, snake)]
pub struct AppConfig {
    pub default_tools_approval_mode: Option<AppToolApproval>,
    pub default_tools_enabled: Option<bool>,
    pub destructive_enabled: Option<bool>,
    #[wire(default = "true")]
    pub enabled: bool,
    pub open_world_enabled: Option<bool>,
    pub tools: Option<AppToolsConfig>,
}

/// DOC
#[wire(exhaustive)]
pub enum AppToolApproval {
    Auto,
    Prompt,
    Approve,
}

/// DOC
#[wire(no_ts, snake)]
pub struct AppToolConfig {
    pub approval_mode: Option<AppToolApproval>,
    pub enabled: Option<bool>,
}

/// DOC
#[wire]
pub struct AppToolsConfig {
    #[wire(flatten)]
    pub tools: BTreeMap<String, AppToolConfig>,
}

/// DOC
#[wire]
pub struct AppsConfig {
    #[wire(rename = "_default", default)]
    pub default: Option<AppsDefaultConfig>,
    #[wire(flatten)]
    pub apps: BTreeMap<String, AppConfig>,
}

/// DOC
#[wire(snake)]
pub struct AppsDefaultConfig {
    #[wire(default = "true")]
    pub enabled: bool,
    #[wire(default = "true")]
    pub destructive_enabled: bool,
    #[wire(default = "true")]
    pub open_world_enabled: bool,
}

/// DOC
#[wire(snake, open)]
pub struct Config {
    pub model: Option<String>,
    pub review_model: Option<String>,
    #[wire(bigint)]
    pub model_context_window: Option<i64>,
    #[wire(bigint)]
    pub model_auto_compact_token_limit: Option<i64>,
    pub model_provider: Option<String>,
    pub approval_policy: Option<AskForApproval>,
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    pub sandbox_mode: Option<SandboxMode>,
    pub sandbox_workspace_write: Option<SandboxWorkspaceWrite>,
    pub forced_chatgpt_workspace_id: Option<String>,
    pub forced_login_method: Option<ForcedLoginMethod>,
    pub web_search: Option<WebSearchMode>,
    pub tools: Option<ToolsV2>,
    pub profile: Option<String>,
    #[wire(default)]
    pub profiles: BTreeMap<String, ProfileV2>,
    pub instructions: Option<String>,
    pub developer_instructions: Option<String>,
    pub compact_prompt: Option<String>,
    pub model_reasoning_effort: Option<ReasoningEffort>,
    pub model_reasoning_summary: Option<ReasoningSummary>,
    pub model_verbosity: Option<Verbosity>,
    pub service_tier: Option<ServiceTier>,
    pub analytics: Option<AnalyticsConfig>,
    #[wire(default, experimental = "config/read.apps", sent)]
    pub apps: Option<AppsConfig>,
    #[wire(flatten)]
    pub additional: BTreeMap<String, Json>,
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

/// DOC
#[wire(root)]
pub enum ForcedLoginMethod {
    Chatgpt,
    Api,
}

/// DOC
#[wire(snake, open)]
pub struct ProfileV2 {
    pub model: Option<String>,
    pub model_provider: Option<String>,
    pub approval_policy: Option<AskForApproval>,
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    pub service_tier: Option<ServiceTier>,
    pub model_reasoning_effort: Option<ReasoningEffort>,
    pub model_reasoning_summary: Option<ReasoningSummary>,
    pub model_verbosity: Option<Verbosity>,
    pub web_search: Option<WebSearchMode>,
    pub tools: Option<ToolsV2>,
    pub chatgpt_base_url: Option<String>,
    #[wire(flatten)]
    pub additional: BTreeMap<String, Json>,
}

/// DOC
#[wire(snake)]
pub struct SandboxWorkspaceWrite {
    #[wire(default)]
    pub writable_roots: Vec<String>,
    #[wire(default)]
    pub network_access: bool,
    #[wire(default)]
    pub exclude_tmpdir_env_var: bool,
    #[wire(default)]
    pub exclude_slash_tmp: bool,
}

/// DOC
#[wire(snake)]
pub struct ToolsV2 {
    pub web_search: Option<WebSearchToolConfig>,
    pub view_image: Option<bool>,
}

/// DOC
#[wire(root)]
pub enum Verbosity {
    Low,
    Medium,
    High,
}

/// DOC
#[wire(root)]
pub enum WebSearchContextSize {
    Low,
    Medium,
    High,
}

/// DOC
#[wire(root, closed)]
pub struct WebSearchLocation {
    pub country: Option<String>,
    pub region: Option<String>,
    pub city: Option<String>,
    pub timezone: Option<String>,
}

/// DOC
#[wire(root)]
pub enum WebSearchMode {
    Disabled,
    Cached,
    Live,
}

/// DOC
#[wire(root, snake, closed)]
pub struct WebSearchToolConfig {
    pub context_size: Option<WebSearchContextSize>,
    pub allowed_domains: Option<Vec<String>>,
    pub location: Option<WebSearchLocation>,
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

/// DOC
#[wire]
pub struct ConfigRequirements {
    pub allowed_approval_policies: Option<Vec<AskForApproval>>,
    pub allowed_sandbox_modes: Option<Vec<SandboxMode>>,
    pub allowed_web_search_modes: Option<Vec<WebSearchMode>>,
    pub feature_requirements: Option<BTreeMap<String, bool>>,
    pub enforce_residency: Option<ResidencyRequirement>,
    #[wire(experimental = "configRequirements/read.network", sent)]
    pub network: Option<NetworkRequirements>,
}

/// DOC
#[wire]
pub enum NetworkDomainPermission {
    Allow,
    Deny,
}

/// DOC
#[wire]
pub struct NetworkRequirements {
    pub enabled: Option<bool>,
    pub http_port: Option<u16>,
    pub socks_port: Option<u16>,
    pub allow_upstream_proxy: Option<bool>,
    pub dangerously_allow_non_loopback_proxy: Option<bool>,
    pub dangerously_allow_all_unix_sockets: Option<bool>,
    pub domains: Option<BTreeMap<String, NetworkDomainPermission>>,
    pub managed_allowed_domains_only: Option<bool>,
    pub allowed_domains: Option<Vec<String>>,
    pub denied_domains: Option<Vec<String>>,
    pub unix_sockets: Option<BTreeMap<String, NetworkUnixSocketPermission>>,
    pub allow_unix_sockets: Option<Vec<String>>,
    pub allow_local_binding: Option<bool>,
}

/// DOC
#[wire]
pub enum NetworkUnixSocketPermission {
    Allow,
    None,
}

/// DOC
#[wire]
pub enum ResidencyRequirement {
    Us,
}

/// Result of `configRequirements/read`.
#[wire]
pub struct ConfigRequirementsReadResponse {
    pub requirements: Option<ConfigRequirements>,
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
