//! Marketplaces that the user has added, and what is found in all of them.

use quipu_wire_macros::wire;

use crate::{AbsolutePath, MarketplaceLoadErrorInfo, PluginMarketplaceEntry, PluginSummary};

/// Parameters of `marketplace/add`.
#[wire(params)]
pub struct MarketplaceAddParams {
    /// A directory, the URL of a Git repository (`#REF` may follow), or `owner/repo` on GitHub.
    pub source: String,
    /// The branch, tag or commit of a repository.
    pub ref_name: Option<String>,
    /// The directories of a repository that are fetched, besides the files at its top; all if there are none.
    pub sparse_paths: Option<Vec<String>>,
}

/// Result of `marketplace/add`.
#[wire]
pub struct MarketplaceAddResponse {
    pub marketplace_name: String,
    /// The directory of the marketplace.
    pub installed_root: AbsolutePath,
    /// It was there before, from the same source.
    pub already_added: bool,
}

/// Parameters of `marketplace/remove`.
#[wire(params)]
pub struct MarketplaceRemoveParams {
    pub marketplace_name: String,
}

/// Result of `marketplace/remove`.
#[wire]
pub struct MarketplaceRemoveResponse {
    pub marketplace_name: String,
    /// The copy of a repository that was removed.
    pub installed_root: Option<AbsolutePath>,
}

/// Parameters of `marketplace/upgrade`.
#[wire(params, default)]
pub struct MarketplaceUpgradeParams {
    /// All that come from repositories if absent.
    pub marketplace_name: Option<String>,
}

/// A marketplace that was not upgraded.
#[wire]
pub struct MarketplaceUpgradeErrorInfo {
    pub marketplace_name: String,
    pub message: String,
}

/// Result of `marketplace/upgrade`.
#[wire]
pub struct MarketplaceUpgradeResponse {
    /// Those that were looked at.
    pub selected_marketplaces: Vec<String>,
    /// The directories of those that changed.
    pub upgraded_roots: Vec<AbsolutePath>,
    pub errors: Vec<MarketplaceUpgradeErrorInfo>,
}

/// Parameters of `plugin/installed`.
#[wire(params, default)]
pub struct PluginInstalledParams {
    /// Directories whose marketplaces count besides the user's own.
    pub cwds: Option<Vec<AbsolutePath>>,
    /// Plugins that are listed even if they are not installed.
    pub install_suggestion_plugin_names: Option<Vec<String>>,
}

/// Result of `plugin/installed`.
#[wire]
pub struct PluginInstalledResponse {
    /// Only those with plugins to list.
    pub marketplaces: Vec<PluginMarketplaceEntry>,
    #[wire(default)]
    pub marketplace_load_errors: Vec<MarketplaceLoadErrorInfo>,
}

/// Whose plugins are searched.
#[wire(exhaustive)]
pub enum PluginSearchScope {
    Global,
    Workspace,
    Personal,
}

/// Parameters of `plugin/search`.
#[wire(params)]
pub struct PluginSearchParams {
    /// What names and descriptions contain, in any case. Nothing has an empty one.
    pub search_term: String,
    /// The `nextCursor` of the page before; absent for the first.
    pub cursor: Option<String>,
    /// Directories whose marketplaces count besides the user's own.
    pub cwds: Option<Vec<AbsolutePath>>,
    /// Plugins per page: 1 to 100, 25 if absent.
    pub limit: Option<u32>,
    /// Whose plugins of an account are meant. Those of this machine are found in any case.
    pub scope: Option<PluginSearchScope>,
}

/// A plugin that was found.
#[wire]
pub struct PluginSearchResult {
    pub plugin: PluginSummary,
    pub marketplace_name: String,
    /// The file of the marketplace.
    pub marketplace_path: Option<AbsolutePath>,
}

/// Result of `plugin/search`.
#[wire]
pub struct PluginSearchResponse {
    pub data: Vec<PluginSearchResult>,
    /// Null on the last page.
    pub next_cursor: Option<String>,
}
