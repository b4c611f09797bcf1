//! `plugin/installed` and `plugin/search`: what is on this machine, of all marketplaces.

use std::path::PathBuf;
use std::sync::Arc;

use quipu_config::{Feature, Snapshot};
use quipu_extend::plugins::Marketplaces;
use quipu_wire::method::request::{PluginInstalled, PluginSearch};
use quipu_wire::{
    AbsolutePath, PluginInstalledParams, PluginInstalledResponse, PluginMarketplaceEntry,
    PluginSearchParams, PluginSearchResponse, PluginSearchResult, PluginSummary,
};

use super::Handler;
use crate::blocking::blocking;
use crate::paging::page_size;
use crate::{Cx, Refusal};

impl Handler for PluginInstalled {
    async fn run(cx: Cx, params: PluginInstalledParams) -> Result<Self::Result, Refusal> {
        let found = marketplaces(&cx, params.cwds).await?;
        let suggested = params.install_suggestion_plugin_names.unwrap_or_default();
        let is_listed = |it: &PluginSummary| it.installed || suggested.contains(&it.name);
        let mut marketplaces = found.found;
        for market in &mut marketplaces {
            market.plugins.retain(is_listed);
        }
        marketplaces.retain(|market| !market.plugins.is_empty());
        Ok(PluginInstalledResponse {
            marketplaces,
            marketplace_load_errors: found.errors,
        })
    }
}

impl Handler for PluginSearch {
    async fn run(cx: Cx, params: PluginSearchParams) -> Result<Self::Result, Refusal> {
        let term = params.search_term.trim().to_lowercase();
        if term.is_empty() {
            return Ok(PluginSearchResponse {
                data: Vec::new(),
                next_cursor: None,
            });
        }
        let found = marketplaces(&cx, params.cwds).await?;
        let results = found.found.into_iter().flat_map(results);
        let results = results.filter(|it| has(&it.plugin, &term));
        let after = params.cursor.as_deref();
        let mut rest = results.skip_while(|it| after.is_some_and(|after| it.plugin.id != after));
        if after.is_some() {
            rest.next();
        }
        let size = page_size(params.limit);
        let mut data: Vec<_> = rest.by_ref().take(size).collect();
        let has_more = rest.next().is_some();
        let last = data.last_mut().filter(|_| has_more);
        Ok(PluginSearchResponse {
            next_cursor: last.map(|last| last.plugin.id.clone()),
            data,
        })
    }
}

/// What all marketplaces of this machine offer.
async fn marketplaces(cx: &Cx, cwds: Option<Vec<AbsolutePath>>) -> Result<Marketplaces, Refusal> {
    let settings: Arc<Snapshot> = cx.config().await?;
    if !settings.features().enabled(Feature::Plugins) {
        return Ok(Marketplaces::default());
    }
    blocking(&cx.server, move |server| {
        let cwds = cwds.iter().flatten();
        let cwds: Vec<PathBuf> = cwds.map(|cwd| cwd.as_path().to_owned()).collect();
        let user = server.settings.config.env().user_home();
        Marketplaces::find(&settings, user, &cwds)
    })
    .await
}

fn results(market: PluginMarketplaceEntry) -> impl Iterator<Item = PluginSearchResult> {
    let PluginMarketplaceEntry {
        name,
        path,
        plugins,
        ..
    } = market;
    plugins.into_iter().map(move |plugin| PluginSearchResult {
        plugin,
        marketplace_name: name.clone(),
        marketplace_path: Some(path.clone()),
    })
}

/// Whether a plugin has a term in its name or in what is said of it.
fn has(plugin: &PluginSummary, term: &str) -> bool {
    let interface = plugin.interface.as_ref();
    let said = interface.map(|it| {
        [
            &it.display_name,
            &it.short_description,
            &it.long_description,
        ]
    });
    let said = said.into_iter().flatten().flatten();
    let mut texts = said.chain([&plugin.name]);
    texts.any(|text| text.to_lowercase().contains(term))
}
