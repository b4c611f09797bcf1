//! `plugin/install`: puts a plugin of a marketplace into the home directory and switches it on, for loaded threads
//! as well. The account comes first, if it is to have the plugin too.

use quipu_config::edit::{Edit, WriteRequest};
use quipu_extend::plugins::{Offered, PluginError, PluginId};
use quipu_wire::method::request::PluginInstall;
use quipu_wire::{PluginInstallParams, PluginInstallResponse};

use super::Handler;
use crate::blocking::blocking;
use crate::plugins::{Mutation, changed, mutate, refusal};
use crate::{Cx, Refusal, Server, analytics, apps};

impl Handler for PluginInstall {
    async fn run(cx: Cx, params: PluginInstallParams) -> Result<Self::Result, Refusal> {
        let remote = params.force_remote_sync;
        let found = blocking(&cx.server, move |_| {
            Offered::find(params.marketplace_path.as_path(), &params.plugin_name)
        });
        let offered = found.await?.map_err(|error| failed(&error))?;
        let (id, auth_policy) = (offered.id.clone(), offered.login);
        if remote {
            let settings = cx.config().await?;
            let enabled = mutate(&cx.server, &settings, &id, Mutation::Enable).await;
            enabled.map_err(|error| {
                Refusal::internal(format!("failed to enable remote plugin: {error}"))
            })?;
        }
        blocking(&cx.server, move |server| install(server, &offered)).await??;
        changed(&cx.server).await;
        Ok(PluginInstallResponse {
            auth_policy,
            apps_needing_auth: apps_needing_auth(&cx, &id).await,
        })
    }
}

fn install(server: &Server, offered: &Offered) -> Result<(), Refusal> {
    offered
        .install(server.home())
        .map_err(|error| failed(&error))?;
    let request = WriteRequest {
        edits: vec![Edit::set(
            &["plugins", &offered.id.to_string(), "enabled"],
            true,
        )],
        ..WriteRequest::default()
    };
    let written = server.settings.config.write(&request);
    written.map_err(|error| {
        let text = format!("failed to persist installed plugin config: {error}");
        Refusal::internal(text)
    })?;
    Ok(())
}

/// The apps of a plugin that the user has yet to connect. Only a ChatGPT login can connect apps.
async fn apps_needing_auth(cx: &Cx, id: &PluginId) -> Vec<quipu_wire::AppSummary> {
    let Ok(settings) = cx.config().await else {
        return Vec::new();
    };
    let mut plugins = cx.server.plugins(&settings).into_iter();
    let Some(plugin) = plugins.find(|plugin| plugin.id == *id) else {
        return Vec::new();
    };
    let kind = "codex_plugin_installed";
    analytics::plugin_event(&cx.server, &settings, kind, id, &plugin.contents);
    if !apps::are_on(&cx.server, &settings) {
        return Vec::new();
    }
    let ids = &plugin.contents.apps;
    let mut apps = apps::summaries(&cx.server, &settings, ids, true).await;
    apps.retain(|app| app.needs_auth);
    apps
}

fn failed(error: &PluginError) -> Refusal {
    refusal(error, "install plugin")
}
