//! Events about the use of plugins and apps, sent to the ChatGPT backend if the user has switched that on.

use std::sync::Arc;

use quipu_config::Snapshot;
use quipu_extend::plugins::{Contents, PluginId};
use serde_json::{Value, json};

use crate::Server;
use crate::chatgpt::Backend;

/// A plugin was installed or uninstalled.
pub(crate) fn plugin_event(
    server: &Arc<Server>,
    settings: &Snapshot,
    kind: &'static str,
    id: &PluginId,
    contents: &Contents,
) {
    let params = json!({
        "plugin_id": id.to_string(),
        "plugin_name": id.plugin(),
        "marketplace_name": id.marketplace(),
        "has_skills": contents.skills.iter().any(|directory| directory.is_dir()),
        "mcp_server_count": contents.mcp_servers.len(),
        "connector_ids": contents.apps,
    });
    send(server, settings, kind, params);
}

/// A tool of an app was called.
pub(crate) fn app_used(server: &Arc<Server>, settings: &Snapshot, params: Value) {
    send(server, settings, "codex_app_used", params);
}

/// Sends an event without waiting for it. Nothing is sent unless the settings say so.
fn send(server: &Arc<Server>, settings: &Snapshot, kind: &'static str, mut params: Value) {
    if !settings.analytics() {
        return;
    }
    params["product_client_id"] = json!(server.identity.originator());
    let body = json!({ "events": [{ "event_type": kind, "event_params": params }] });
    let base = settings.account().chatgpt_base_url;
    let server = Arc::clone(server);
    tokio::spawn(async move {
        let backend = Backend::at(&server, base).await;
        if backend.login().is_err() {
            return;
        }
        let url = backend.url("codex/analytics-events/events");
        if let Err(error) = backend.post(&server, url, Some(&body)).await {
            tracing::debug!(kind, %error, "failed to send an analytics event");
        }
    });
}
