//! MODDOC

use std::collections::BTreeMap;

use quipu_wire_macros::wire;

use crate::{
    ApprovalsReviewer, AskForApproval, Json, ReasoningEffort, ReasoningSummary, SandboxMode,
    ServiceTier,
};

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
