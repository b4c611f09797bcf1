//! Plugins and the marketplaces they come from, and apps, which act for the user in other services.

use std::collections::BTreeMap;

use quipu_wire_macros::wire;

use crate::{AbsolutePath, HookEventName, Json, SkillSummary};

/// Parameters of `plugin/list`.
#[wire(params, default)]
pub struct PluginListParams {
    /// Directories whose marketplaces count besides the user's own.
    pub cwds: Option<Vec<AbsolutePath>>,
    /// Takes over first what the account has installed elsewhere.
    #[wire(sparse)]
    pub force_remote_sync: bool,
}

/// Parameters of `plugin/read`.
#[wire(params)]
pub struct PluginReadParams {
    /// The `path` of the marketplace in `plugin/list`.
    pub marketplace_path: AbsolutePath,
    pub plugin_name: String,
}

/// Parameters of `app/list`.
#[wire(params, default)]
pub struct AppsListParams {
    /// The `nextCursor` of the page before; absent for the first.
    pub cursor: Option<String>,
    /// Apps per page; all if absent.
    pub limit: Option<u32>,
    /// The thread whose settings decide whether apps are on.
    pub thread_id: Option<String>,
    /// Asks the sources again instead of using lists of up to an hour ago.
    #[wire(sparse)]
    pub force_refetch: bool,
}

/// Parameters of `plugin/install`.
#[wire(params)]
pub struct PluginInstallParams {
    /// The `path` of the marketplace in `plugin/list`.
    pub marketplace_path: AbsolutePath,
    pub plugin_name: String,
    /// Installs it for the account as well.
    #[wire(sparse)]
    pub force_remote_sync: bool,
}

/// Parameters of `plugin/uninstall`.
#[wire(params, default)]
pub struct PluginUninstallParams {
    /// `<plugin>@<marketplace>`; not being installed is no error.
    pub plugin_id: String,
    /// Uninstalls it for the account as well.
    #[wire(sparse)]
    pub force_remote_sync: bool,
}

/// How to show a marketplace.
#[wire]
pub struct MarketplaceInterface {
    pub display_name: Option<String>,
}

/// A marketplace that cannot be used.
#[wire]
pub struct MarketplaceLoadErrorInfo {
    pub marketplace_path: AbsolutePath,
    pub message: String,
}

/// When a plugin's apps ask for a login.
#[wire]
pub enum PluginAuthPolicy {
    /// When the plugin is installed.
    #[wire(rename = "ON_INSTALL")]
    ONINSTALL,
    /// When an app is used first.
    #[wire(rename = "ON_USE")]
    ONUSE,
}

/// Whether a plugin can be installed.
#[wire(screaming)]
pub enum PluginInstallPolicy {
    /// It cannot.
    #[wire(rename = "NOT_AVAILABLE")]
    NOTAVAILABLE,
    /// It can.
    AVAILABLE,
    /// It can, and comes without asking.
    #[wire(rename = "INSTALLED_BY_DEFAULT")]
    INSTALLEDBYDEFAULT,
}

/// How to show a plugin.
#[wire]
pub struct PluginInterface {
    pub display_name: Option<String>,
    pub short_description: Option<String>,
    pub long_description: Option<String>,
    pub developer_name: Option<String>,
    /// The marketplace's word, else the plugin's.
    pub category: Option<String>,
    pub capabilities: Vec<String>,
    pub website_url: Option<String>,
    pub privacy_policy_url: Option<String>,
    pub terms_of_service_url: Option<String>,
    /// Up to 3 things to start with, of up to 128 characters each.
    pub default_prompt: Option<Vec<String>>,
    /// As `#RRGGBB`.
    pub brand_color: Option<String>,
    pub composer_icon: Option<AbsolutePath>,
    pub logo: Option<AbsolutePath>,
    pub screenshots: Vec<AbsolutePath>,
    /// Always empty: a plugin's images are files.
    #[wire(since = "0.166", hidden_default)]
    pub screenshot_urls: Vec<String>,
}

/// A marketplace and its plugins.
#[wire]
pub struct PluginMarketplaceEntry {
    pub name: String,
    /// Its `marketplace.json`, which names it in other requests.
    pub path: AbsolutePath,
    pub interface: Option<MarketplaceInterface>,
    pub plugins: Vec<PluginSummary>,
}

/// Where the files of a plugin are.
#[wire(tag = "type")]
pub enum PluginSource {
    Local { path: AbsolutePath },
}

/// What a list shows of a plugin.
#[wire]
pub struct PluginSummary {
    /// `<plugin>@<marketplace>`.
    pub id: String,
    pub name: String,
    pub source: PluginSource,
    /// Whether its files are installed for this user.
    pub installed: bool,
    /// Whether the configuration switches it on.
    pub enabled: bool,
    pub install_policy: PluginInstallPolicy,
    pub auth_policy: PluginAuthPolicy,
    pub interface: Option<PluginInterface>,
}

/// Result of `plugin/list`.
#[wire]
pub struct PluginListResponse {
    pub marketplaces: Vec<PluginMarketplaceEntry>,
    /// Marketplaces that are left out, and why.
    #[wire(default)]
    pub marketplace_load_errors: Vec<MarketplaceLoadErrorInfo>,
    /// Why `forceRemoteSync` failed; the list is still good.
    pub remote_sync_error: Option<String>,
    /// Plugins that the curated marketplace puts first; empty if that is not known.
    #[wire(default)]
    pub featured_plugin_ids: Vec<String>,
}

/// What a plugin shows of an app.
#[wire]
pub struct AppSummary {
    pub id: String,
    pub name: String,
    pub description: Option<String>,
    /// The page on which the user can connect it.
    pub install_url: Option<String>,
    /// Whether the user has yet to connect it.
    pub needs_auth: bool,
}

/// A plugin with all that it brings.
#[wire]
pub struct PluginDetail {
    pub marketplace_name: String,
    pub marketplace_path: AbsolutePath,
    pub summary: PluginSummary,
    pub description: Option<String>,
    /// Named `<plugin>:<skill>`.
    pub skills: Vec<SkillSummary>,
    pub apps: Vec<AppSummary>,
    /// The names of MCP servers, sorted.
    pub mcp_servers: Vec<String>,
    /// Hooks that run while the plugin is enabled.
    #[wire(since = "0.166", hidden_default)]
    pub hooks: Vec<PluginHookSummary>,
    /// Always empty: templates of apps belong to an account.
    #[wire(since = "0.166", hidden_default)]
    pub app_templates: Vec<Json>,
}

/// A hook of a plugin.
#[wire]
pub struct PluginHookSummary {
    /// Plugin, file, event and the position in the file.
    pub key: String,
    pub event_name: HookEventName,
}

/// Result of `plugin/read`.
#[wire]
pub struct PluginReadResponse {
    pub plugin: PluginDetail,
}

/// Who is behind an app.
#[wire]
pub struct AppBranding {
    pub category: Option<String>,
    pub developer: Option<String>,
    pub website: Option<String>,
    pub privacy_policy: Option<String>,
    pub terms_of_service: Option<String>,
    pub is_discoverable_app: bool,
}

/// An app.
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
    /// The page on which the user can connect it.
    pub install_url: Option<String>,
    /// Whether the user has connected it.
    #[wire(default)]
    pub is_accessible: bool,
    /// Whether the configuration and its requirements allow it.
    #[wire(default = "true")]
    pub is_enabled: bool,
    /// The plugins that bring it.
    #[wire(default)]
    pub plugin_display_names: Vec<String>,
}

/// What the directory of apps knows about an app, passed on as it is.
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

/// What became of the directory's check of an app.
#[wire]
pub struct AppReview {
    pub status: String,
}

/// An image of an app in use.
#[wire]
pub struct AppScreenshot {
    pub url: Option<String>,
    pub file_id: Option<String>,
    /// What the user said in it.
    pub user_prompt: String,
}

/// Result of `app/list`.
#[wire]
pub struct AppsListResponse {
    /// Those the user has connected first, then by name.
    pub data: Vec<AppInfo>,
    /// Null on the last page.
    pub next_cursor: Option<String>,
}

/// Result of `plugin/install`.
#[wire]
pub struct PluginInstallResponse {
    pub auth_policy: PluginAuthPolicy,
    /// The apps that the user has yet to connect.
    pub apps_needing_auth: Vec<AppSummary>,
}

/// Result of `plugin/uninstall`.
#[wire]
pub struct PluginUninstallResponse {}

/// Parameters of the notification `app/list/updated`.
#[wire]
pub struct AppListUpdatedNotification {
    /// The whole list as far as it is known.
    pub data: Vec<AppInfo>,
}
