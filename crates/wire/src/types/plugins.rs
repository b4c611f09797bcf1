//! MODDOC

use std::collections::BTreeMap;

use quipu_wire_macros::wire;

use crate::{AbsolutePath, SkillSummary};

/// Parameters of `plugin/list`.
#[wire(params, default)]
pub struct PluginListParams {
    pub cwds: Option<Vec<AbsolutePath>>,
    #[wire(sparse)]
    pub force_remote_sync: bool,
}

/// Parameters of `plugin/read`.
#[wire(params)]
pub struct PluginReadParams {
    pub marketplace_path: AbsolutePath,
    pub plugin_name: String,
}

/// Parameters of `app/list`.
#[wire(params, default)]
pub struct AppsListParams {
    pub cursor: Option<String>,
    pub limit: Option<u32>,
    pub thread_id: Option<String>,
    #[wire(sparse)]
    pub force_refetch: bool,
}

/// Parameters of `plugin/install`.
#[wire(params)]
pub struct PluginInstallParams {
    pub marketplace_path: AbsolutePath,
    pub plugin_name: String,
    #[wire(sparse)]
    pub force_remote_sync: bool,
}

/// Parameters of `plugin/uninstall`.
#[wire(params, default)]
pub struct PluginUninstallParams {
    pub plugin_id: String,
    #[wire(sparse)]
    pub force_remote_sync: bool,
}

/// DOC
#[wire]
pub struct MarketplaceInterface {
    pub display_name: Option<String>,
}

/// DOC
#[wire]
pub struct MarketplaceLoadErrorInfo {
    pub marketplace_path: AbsolutePath,
    pub message: String,
}

/// DOC
#[wire]
pub enum PluginAuthPolicy {
    #[wire(rename = "ON_INSTALL")]
    ONINSTALL,
    #[wire(rename = "ON_USE")]
    ONUSE,
}

/// DOC
#[wire(screaming)]
pub enum PluginInstallPolicy {
    #[wire(rename = "NOT_AVAILABLE")]
    NOTAVAILABLE,
    AVAILABLE,
    #[wire(rename = "INSTALLED_BY_DEFAULT")]
    INSTALLEDBYDEFAULT,
}

/// DOC
#[wire]
pub struct PluginInterface {
    pub display_name: Option<String>,
    pub short_description: Option<String>,
    pub long_description: Option<String>,
    pub developer_name: Option<String>,
    pub category: Option<String>,
    pub capabilities: Vec<String>,
    pub website_url: Option<String>,
    pub privacy_policy_url: Option<String>,
    pub terms_of_service_url: Option<String>,
    pub default_prompt: Option<Vec<String>>,
    pub brand_color: Option<String>,
    pub composer_icon: Option<AbsolutePath>,
    pub logo: Option<AbsolutePath>,
    pub screenshots: Vec<AbsolutePath>,
}

/// DOC
#[wire]
pub struct PluginMarketplaceEntry {
    pub name: String,
    pub path: AbsolutePath,
    pub interface: Option<MarketplaceInterface>,
    pub plugins: Vec<PluginSummary>,
}

/// DOC
#[wire(tag = "type")]
pub enum PluginSource {
    Local { path: AbsolutePath },
}

/// DOC
#[wire]
pub struct PluginSummary {
    pub id: String,
    pub name: String,
    pub source: PluginSource,
    pub installed: bool,
    pub enabled: bool,
    pub install_policy: PluginInstallPolicy,
    pub auth_policy: PluginAuthPolicy,
    pub interface: Option<PluginInterface>,
}

/// Result of `plugin/list`.
#[wire]
pub struct PluginListResponse {
    pub marketplaces: Vec<PluginMarketplaceEntry>,
    #[wire(default)]
    pub marketplace_load_errors: Vec<MarketplaceLoadErrorInfo>,
    pub remote_sync_error: Option<String>,
    #[wire(default)]
    pub featured_plugin_ids: Vec<String>,
}

/// DOC
#[wire]
pub struct AppSummary {
    pub id: String,
    pub name: String,
    pub description: Option<String>,
    pub install_url: Option<String>,
    pub needs_auth: bool,
}

/// DOC
#[wire]
pub struct PluginDetail {
    pub marketplace_name: String,
    pub marketplace_path: AbsolutePath,
    pub summary: PluginSummary,
    pub description: Option<String>,
    pub skills: Vec<SkillSummary>,
    pub apps: Vec<AppSummary>,
    pub mcp_servers: Vec<String>,
}

/// Result of `plugin/read`.
#[wire]
pub struct PluginReadResponse {
    pub plugin: PluginDetail,
}

/// DOC
#[wire]
pub struct AppBranding {
    pub category: Option<String>,
    pub developer: Option<String>,
    pub website: Option<String>,
    pub privacy_policy: Option<String>,
    pub terms_of_service: Option<String>,
    pub is_discoverable_app: bool,
}

/// DOC
#[wire]
pub struct AppInfo {
    pub id: String,
    pub name: String,
    pub description: Option<String>,
    pub logo_url: Option<String>,
    pub logo_url_dark: Option<String>,
    pub distribution_channel: Option<String>,
    pub branding: Option<AppBranding>,
    pub app_metadata: Option<AppMetadata>,
    pub labels: Option<BTreeMap<String, String>>,
    pub install_url: Option<String>,
    #[wire(default)]
    pub is_accessible: bool,
    #[wire(default = "true")]
    pub is_enabled: bool,
    #[wire(default)]
    pub plugin_display_names: Vec<String>,
}

/// DOC
#[wire]
pub struct AppMetadata {
    pub review: Option<AppReview>,
    pub categories: Option<Vec<String>>,
    pub sub_categories: Option<Vec<String>>,
    pub seo_description: Option<String>,
    pub screenshots: Option<Vec<AppScreenshot>>,
    pub developer: Option<String>,
    pub version: Option<String>,
    pub version_id: Option<String>,
    pub version_notes: Option<String>,
    pub first_party_type: Option<String>,
    pub first_party_requires_install: Option<bool>,
    pub show_in_composer_when_unlinked: Option<bool>,
}

/// DOC
#[wire]
pub struct AppReview {
    pub status: String,
}

/// DOC
#[wire]
pub struct AppScreenshot {
    pub url: Option<String>,
    pub file_id: Option<String>,
    pub user_prompt: String,
}

/// Result of `app/list`.
#[wire]
pub struct AppsListResponse {
    pub data: Vec<AppInfo>,
    pub next_cursor: Option<String>,
}

/// Result of `plugin/install`.
#[wire]
pub struct PluginInstallResponse {
    pub auth_policy: PluginAuthPolicy,
    pub apps_needing_auth: Vec<AppSummary>,
}

/// Result of `plugin/uninstall`.
#[wire]
pub struct PluginUninstallResponse {}

/// Parameters of the notification `app/list/updated`.
#[wire]
pub struct AppListUpdatedNotification {
    pub data: Vec<AppInfo>,
}
