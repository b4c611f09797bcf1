//! The settings that a configuration can hold, named as in `config.toml`.

use std::collections::BTreeMap;

use quipu_wire_macros::wire;

use crate::{
    ApprovalsReviewer, AskForApproval, Json, ReasoningEffort, ReasoningSummary, SandboxMode,
    ServiceTier,
};

/// The table `[analytics]`.
#[wire(open)]
pub struct AnalyticsConfig {
    /// Whether data about use is sent to the provider.
    pub enabled: Option<bool>,
    /// Keys without a member of their own here.
    #[wire(flatten)]
    pub additional: BTreeMap<String, Json>,
}

/// The table `[apps.<id>]`: one app.
#[wire(no_ts, snake)]
pub struct AppConfig {
    /// Applies to tools that `tools` does not name.
    pub default_tools_approval_mode: Option<AppToolApproval>,
    /// Applies to tools that `tools` does not name.
    pub default_tools_enabled: Option<bool>,
    /// Whether tools that may destroy something can be used.
    pub destructive_enabled: Option<bool>,
    #[wire(default = "true")]
    pub enabled: bool,
    /// Whether tools that reach beyond the app itself can be used.
    pub open_world_enabled: Option<bool>,
    pub tools: Option<AppToolsConfig>,
}

/// When a tool of an app asks before it runs.
#[wire(exhaustive)]
pub enum AppToolApproval {
    /// It asks if its annotations do not show that it is harmless.
    Auto,
    /// It always asks.
    Prompt,
    /// It never asks.
    Approve,
}

/// One tool of an app.
#[wire(no_ts, snake)]
pub struct AppToolConfig {
    pub approval_mode: Option<AppToolApproval>,
    pub enabled: Option<bool>,
}

/// The tools of an app, by name.
#[wire]
pub struct AppToolsConfig {
    #[wire(flatten)]
    pub tools: BTreeMap<String, AppToolConfig>,
}

/// The table `[apps]`.
#[wire]
pub struct AppsConfig {
    /// Applies to what an app does not set itself.
    #[wire(rename = "_default", default)]
    pub default: Option<AppsDefaultConfig>,
    /// The apps by id.
    #[wire(flatten)]
    pub apps: BTreeMap<String, AppConfig>,
}

/// The table `[apps._default]`.
#[wire(snake)]
pub struct AppsDefaultConfig {
    #[wire(default = "true")]
    pub enabled: bool,
    /// Whether tools that may destroy something can be used.
    #[wire(default = "true")]
    pub destructive_enabled: bool,
    /// Whether tools that reach beyond the app itself can be used.
    #[wire(default = "true")]
    pub open_world_enabled: bool,
}

/// The settings; null where no layer sets one.
#[wire(snake, open)]
pub struct Config {
    pub model: Option<String>,
    /// The model of `review/start`; the thread's if null.
    pub review_model: Option<String>,
    /// Tokens that the model can hold, in place of what the catalogue says.
    #[wire(bigint)]
    pub model_context_window: Option<i64>,
    /// Tokens in use at which the history is compacted, at most 90 % of the window.
    #[wire(bigint)]
    pub model_auto_compact_token_limit: Option<i64>,
    /// A key of `model_providers`; `openai` if null.
    pub model_provider: Option<String>,
    /// If null, `untrusted` for projects marked so, else `on-request`.
    pub approval_policy: Option<AskForApproval>,
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    /// If null, `workspace-write` for projects with a trust entry, else `read-only`.
    pub sandbox_mode: Option<SandboxMode>,
    /// What the mode `workspace-write` allows.
    pub sandbox_workspace_write: Option<SandboxWorkspaceWrite>,
    /// The only workspace that a ChatGPT login may use.
    pub forced_chatgpt_workspace_id: Option<String>,
    /// The only login that is possible.
    pub forced_login_method: Option<ForcedLoginMethod>,
    /// `cached` if null.
    pub web_search: Option<WebSearchMode>,
    pub tools: Option<ToolsV2>,
    /// The selected key of `profiles`.
    pub profile: Option<String>,
    /// Sets of settings to select from.
    #[wire(default)]
    pub profiles: BTreeMap<String, ProfileV2>,
    /// Has no effect; kept for older files.
    pub instructions: Option<String>,
    /// Given to the model besides its own instructions.
    pub developer_instructions: Option<String>,
    /// Replaces the built-in prompt that asks the model to sum up its history.
    pub compact_prompt: Option<String>,
    /// The model's default if null.
    pub model_reasoning_effort: Option<ReasoningEffort>,
    pub model_reasoning_summary: Option<ReasoningSummary>,
    /// The model's default if null.
    pub model_verbosity: Option<Verbosity>,
    pub service_tier: Option<ServiceTier>,
    pub analytics: Option<AnalyticsConfig>,
    #[wire(default, experimental = "config/read.apps", sent)]
    pub apps: Option<AppsConfig>,
    /// The other settings, by name.
    #[wire(flatten)]
    pub additional: BTreeMap<String, Json>,
}

/// The only login that is possible.
#[wire(root)]
pub enum ForcedLoginMethod {
    /// With a ChatGPT account.
    Chatgpt,
    /// With an API key.
    Api,
}

/// The table `[profiles.<name>]`; when selected, it wins over the top level.
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
    /// Where the ChatGPT backend is reached.
    pub chatgpt_base_url: Option<String>,
    /// The other settings, by name.
    #[wire(flatten)]
    pub additional: BTreeMap<String, Json>,
}

/// The table `[sandbox_workspace_write]`.
#[wire(snake)]
pub struct SandboxWorkspaceWrite {
    /// Directories to write in besides the working directory.
    #[wire(default)]
    pub writable_roots: Vec<String>,
    #[wire(default)]
    pub network_access: bool,
    /// Forbids writing in the directory that `TMPDIR` names.
    #[wire(default)]
    pub exclude_tmpdir_env_var: bool,
    /// Forbids writing in `/tmp`.
    #[wire(default)]
    pub exclude_slash_tmp: bool,
}

/// The table `[tools]`.
#[wire(snake)]
pub struct ToolsV2 {
    pub web_search: Option<WebSearchToolConfig>,
    /// Whether the model may look at image files; `true` if null.
    pub view_image: Option<bool>,
}

/// How much the model should write.
#[wire(root)]
pub enum Verbosity {
    Low,
    Medium,
    High,
}

/// How much of what a search finds the model gets to read.
#[wire(root)]
pub enum WebSearchContextSize {
    Low,
    Medium,
    High,
}

/// Roughly where the user is, so that searches fit.
#[wire(root, closed)]
pub struct WebSearchLocation {
    pub country: Option<String>,
    pub region: Option<String>,
    pub city: Option<String>,
    pub timezone: Option<String>,
}

/// How the model can search the web.
#[wire(root)]
pub enum WebSearchMode {
    /// Not at all.
    Disabled,
    /// In pages that the provider has stored; with full access it becomes `live`.
    Cached,
    /// In pages as they are now.
    Live,
}

/// The table `[tools.web_search]`.
#[wire(root, snake, closed)]
pub struct WebSearchToolConfig {
    pub context_size: Option<WebSearchContextSize>,
    /// The only domains to search; all if null.
    pub allowed_domains: Option<Vec<String>>,
    pub location: Option<WebSearchLocation>,
}
