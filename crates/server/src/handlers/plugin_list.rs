//! `plugin/list`: the plugins that marketplaces offer, and which of them are installed.

use std::sync::Arc;

use quipu_config::Feature;
use quipu_extend::plugins::{CURATED, Marketplaces};
use quipu_wire::method::request::PluginList;
use quipu_wire::{PluginListParams, PluginListResponse, PluginMarketplaceEntry};

use super::Handler;
use crate::blocking::blocking;
use crate::plugins::{featured, fetch_curated, sync};
use crate::{Cx, Refusal};

impl Handler for PluginList {
    async fn run(cx: Cx, params: PluginListParams) -> Result<Self::Result, Refusal> {
        let settings = cx.config().await?;
        if !settings.features().enabled(Feature::Plugins) {
            return Ok(PluginListResponse {
                marketplaces: Vec::new(),
                marketplace_load_errors: Vec::new(),
                remote_sync_error: None,
                featured_plugin_ids: Vec::new(),
            });
        }
        fetch_curated(&cx.server).await;
        let mut settings = settings;
        let mut remote_sync_error = None;
        if params.force_remote_sync {
            if let Err(error) = sync(&cx.server, &settings, false).await {
                tracing::warn!(
                    error,
                    "failed to sync plugins; the list is that of this machine"
                );
                remote_sync_error = Some(error);
            }
            settings = cx.config().await?;
        }
        let featured_settings = Arc::clone(&settings);
        let found = blocking(&cx.server, move |server| {
            let cwds = params.cwds.iter().flatten();
            let cwds: Vec<_> = cwds.map(|cwd| cwd.as_path().to_owned()).collect();
            let user = server.settings.config.env().user_home();
            Marketplaces::find(&settings, user, &cwds)
        });
        let found = found.await?;
        let is_curated = |it: &PluginMarketplaceEntry| it.name == CURATED;
        let featured_plugin_ids = match found.found.iter().any(is_curated) {
            true => featured(&cx.server, &featured_settings).await,
            false => Vec::new(),
        };
        Ok(PluginListResponse {
            marketplaces: found.found,
            marketplace_load_errors: found.errors,
            remote_sync_error,
            featured_plugin_ids,
        })
    }
}
