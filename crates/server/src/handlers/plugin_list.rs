//! `plugin/list`: no marketplaces are known yet, which is what the feature means while it is off.

use quipu_wire::method::request::PluginList;
use quipu_wire::{PluginListParams, PluginListResponse};

use super::Handler;
use crate::{Cx, Refusal};

impl Handler for PluginList {
    async fn run(cx: Cx, _params: PluginListParams) -> Result<Self::Result, Refusal> {
        cx.config().await.map(|_| PluginListResponse {
            marketplaces: Vec::new(),
            marketplace_load_errors: Vec::new(),
            remote_sync_error: None,
            featured_plugin_ids: Vec::new(),
        })
    }
}
