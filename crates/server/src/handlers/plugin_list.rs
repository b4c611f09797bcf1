//! `plugin/list`: no marketplaces are known yet, which is what the feature means while it is off.

use quipu_wire::method::request::PluginList;
use quipu_wire::{PluginListParams, PluginListResponse};

use super::Handler;
use crate::{Cx, Reply};

impl Handler for PluginList {
    async fn handle(cx: Cx, _params: PluginListParams, reply: Reply<Self>) {
        let empty = cx.config().await.map(|_| PluginListResponse {
            marketplaces: Vec::new(),
            marketplace_load_errors: Vec::new(),
            remote_sync_error: None,
            featured_plugin_ids: Vec::new(),
        });
        reply.send(empty).await;
    }
}
