//! `plugin/read`: a plugin of a marketplace with all that it brings.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use quipu_config::{Feature, Snapshot};
use quipu_extend::plugins::{self, Details};
use quipu_extend::skills;
use quipu_hooks::Hooks;
use quipu_wire::method::request::PluginRead;
use quipu_wire::{
    PluginDetail, PluginHookSummary, PluginReadParams, PluginReadResponse, PluginSource,
    PluginSummary, SkillSummary,
};

use super::Handler;
use crate::blocking::blocking;
use crate::plugins::refusal;
use crate::{Cx, Refusal, apps};

impl Handler for PluginRead {
    async fn run(cx: Cx, params: PluginReadParams) -> Result<Self::Result, Refusal> {
        let settings = cx.config().await?;
        if !settings.features().enabled(Feature::Plugins) {
            return Err(Refusal::invalid_request("plugins feature is disabled"));
        }
        let of_files = Arc::clone(&settings);
        let read = blocking(&cx.server, move |_| read(&of_files, params));
        let (mut plugin, ids) = read.await??;
        plugin.apps = apps::summaries(&cx.server, &settings, &ids, false).await;
        Ok(PluginReadResponse { plugin })
    }
}

/// What the files say about a plugin, and the ids of its apps.
fn read(
    settings: &Arc<Snapshot>,
    params: PluginReadParams,
) -> Result<(PluginDetail, Vec<String>), Refusal> {
    let file = params.marketplace_path.as_path();
    let details = plugins::read(settings, file, &params.plugin_name);
    let details = details.map_err(|error| refusal(&error, "read plugin details"))?;
    let Details {
        marketplace,
        summary,
        plugin,
    } = details;
    let skills = skills::of_plugin(settings, &plugin).found.into_iter();
    let skills = skills.map(|skill| SkillSummary {
        name: skill.metadata.name,
        description: skill.metadata.description,
        short_description: skill.metadata.short_description,
        interface: skill.metadata.interface,
        path: skill.metadata.path,
        enabled: skill.metadata.enabled,
    });
    let detail = PluginDetail {
        marketplace_name: marketplace,
        marketplace_path: params.marketplace_path,
        hooks: hooks(&summary, &plugin.contents.hooks),
        app_templates: Vec::new(),
        summary,
        description: plugin.description,
        skills: skills.collect(),
        apps: Vec::new(),
        mcp_servers: plugin.contents.mcp_servers.into_keys().collect(),
    };
    Ok((detail, plugin.contents.apps))
}

/// The hooks in a plugin's files, which are named relative to the plugin.
fn hooks(summary: &PluginSummary, files: &[PathBuf]) -> Vec<PluginHookSummary> {
    let root = match &summary.source {
        PluginSource::Local { path } => path.as_path(),
        _ => Path::new(""),
    };
    let (hooks, _) = Hooks::read(files);
    let summaries = hooks.all().map(|hook| {
        let file = hook.source().strip_prefix(root).unwrap_or(hook.source());
        PluginHookSummary {
            key: format!("{}:{}:{}", summary.id, file.display(), hook.key()),
            event_name: hook.event,
        }
    });
    summaries.collect()
}
