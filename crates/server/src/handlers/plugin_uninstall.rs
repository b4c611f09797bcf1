//! `plugin/uninstall`: takes a plugin out of the home directory and out of the settings.

use quipu_config::edit::{Edit, WriteRequest};
use quipu_extend::plugins::{self, PluginId};
use quipu_wire::method::request::PluginUninstall;
use quipu_wire::{PluginUninstallParams, PluginUninstallResponse};
use serde_json::Value;

use super::Handler;
use super::plugin_install::{NO_LOGIN, refusal};
use crate::blocking::blocking;
use crate::{Cx, Refusal, Server};

impl Handler for PluginUninstall {
    async fn run(cx: Cx, params: PluginUninstallParams) -> Result<Self::Result, Refusal> {
        let removed = blocking(&cx.server, move |server| uninstall(server, &params)).await;
        let answer = removed.and_then(|removed| removed);
        answer.map(|()| PluginUninstallResponse {})
    }
}

fn uninstall(server: &Server, params: &PluginUninstallParams) -> Result<(), Refusal> {
    let id = PluginId::parse(&params.plugin_id).map_err(|error| refusal(&error, "uninstall"))?;
    if params.force_remote_sync {
        let text = format!("failed to uninstall remote plugin: {NO_LOGIN}");
        return Err(Refusal::internal(text));
    }
    plugins::uninstall(server.home(), &id).map_err(|error| refusal(&error, "uninstall"))?;
    forget(server, &id.to_string())
}

/// Removes the plugin from the settings, if it is in them.
fn forget(server: &Server, id: &str) -> Result<(), Refusal> {
    let failed = |error: &dyn std::fmt::Display| {
        Refusal::internal(format!("failed to clear plugin config: {error}"))
    };
    let config = &server.settings.config;
    let settings = config.load_or_defaults().map_err(|error| failed(&error))?;
    let plugins = settings.merged().get("plugins");
    if plugins.and_then(|plugins| plugins.get(id)).is_none() {
        return Ok(());
    }
    let request = WriteRequest {
        edits: vec![Edit::set(&["plugins", id], Value::Null)],
        ..WriteRequest::default()
    };
    config.write(&request).map_err(|error| failed(&error))?;
    Ok(())
}
