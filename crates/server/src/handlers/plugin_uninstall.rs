//! `plugin/uninstall`: takes a plugin out of the home directory and out of the settings, for loaded threads as well.
//! The account comes first, if it is to lose the plugin too.

use quipu_config::edit::{Edit, WriteRequest};
use quipu_extend::plugins::{self, PluginId};
use quipu_wire::method::request::PluginUninstall;
use quipu_wire::{PluginUninstallParams, PluginUninstallResponse};
use serde_json::Value;

use super::Handler;
use crate::blocking::blocking;
use crate::plugins::{Mutation, changed, mutate, refusal};
use crate::{Cx, Refusal, Server, analytics};

const WHAT: &str = "uninstall plugin";

impl Handler for PluginUninstall {
    async fn run(cx: Cx, params: PluginUninstallParams) -> Result<Self::Result, Refusal> {
        let id = PluginId::parse(&params.plugin_id).map_err(|error| refusal(&error, WHAT))?;
        if params.force_remote_sync {
            let settings = cx.config().await?;
            let removed = mutate(&cx.server, &settings, &id, Mutation::Uninstall).await;
            removed.map_err(|error| {
                Refusal::internal(format!("failed to uninstall remote plugin: {error}"))
            })?;
        }
        report(&cx, &id).await;
        blocking(&cx.server, move |server| uninstall(server, &id)).await??;
        changed(&cx.server).await;
        Ok(PluginUninstallResponse {})
    }
}

/// Reports the end of a plugin that is in force.
async fn report(cx: &Cx, id: &PluginId) {
    let Ok(settings) = cx.config().await else {
        return;
    };
    let mut plugins = cx.server.plugins(&settings).into_iter();
    if let Some(plugin) = plugins.find(|plugin| plugin.id == *id) {
        let kind = "codex_plugin_uninstalled";
        analytics::plugin_event(&cx.server, &settings, kind, id, &plugin.contents);
    }
}

fn uninstall(server: &Server, id: &PluginId) -> Result<(), Refusal> {
    plugins::uninstall(server.home(), id).map_err(|error| refusal(&error, WHAT))?;
    forget(server, &id.to_string())
}

/// Removes the plugin from the settings, if it is in them.
fn forget(server: &Server, id: &str) -> Result<(), Refusal> {
    let failed = |error: &dyn std::fmt::Display| {
        Refusal::internal(format!("failed to clear plugin config: {error}"))
    };
    let config = &server.settings.config;
    let settings = config.load_or_defaults().map_err(|error| failed(&error))?;
    if !settings.plugins().contains_key(id) {
        return Ok(());
    }
    let request = WriteRequest {
        edits: vec![Edit::set(&["plugins", id], Value::Null)],
        ..WriteRequest::default()
    };
    config.write(&request).map_err(|error| failed(&error))?;
    Ok(())
}
