//! What a plugin brings: skills, MCP servers, apps and hooks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use quipu_config::Snapshot;
use quipu_config::settings::{McpServer, McpTransport};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::manifest::{FILE, MAX_BYTES, Manifest};

/// The most servers, and the most apps, that one plugin may bring.
const MAX_PARTS: usize = 100;

/// What a plugin brings.
#[derive(Debug, Clone, Default)]
pub struct Contents {
    /// Directories with skills.
    pub skills: Vec<PathBuf>,
    /// Servers by name.
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// The ids of apps, in the order of the file.
    pub apps: Vec<String>,
    /// Files with hooks.
    pub hooks: Vec<PathBuf>,
    /// The files that were read, or would have been if they existed.
    pub(super) files: Vec<PathBuf>,
}

impl Contents {
    /// Reads what the plugin in a directory brings. A part that cannot be used is left out.
    pub(super) fn read(plugin: &Path, manifest: &Manifest, settings: &Snapshot) -> Contents {
        let at = |own: &Option<PathBuf>, usual: &str| match own {
            Some(path) => path.clone(),
            None => plugin.join(usual),
        };
        let hooks = at(&manifest.hooks, "hooks/hooks.json");
        let servers_file = at(&manifest.mcp_servers, ".mcp.json");
        let apps_file = at(&manifest.apps, ".app.json");
        let mut skills = vec![plugin.join("skills")];
        skills.extend(manifest.skills.clone());
        skills.dedup();
        Contents {
            skills,
            mcp_servers: servers(plugin, &servers_file, settings),
            apps: apps(&apps_file),
            files: vec![plugin.join(FILE), servers_file, apps_file, hooks.clone()],
            hooks: hooks.is_file().then_some(hooks).into_iter().collect(),
        }
    }
}

fn read<T: for<'a> Deserialize<'a>>(file: &Path) -> Option<T> {
    let text = quipu_disk::read_text(file, MAX_BYTES).ok()?;
    match serde_json::from_str(&text) {
        Ok(read) => Some(read),
        Err(error) => {
            tracing::warn!(file = %file.display(), %error, "failed to read a part of a plugin");
            None
        }
    }
}

fn servers(plugin: &Path, file: &Path, settings: &Snapshot) -> BTreeMap<String, McpServer> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct File {
        #[serde(default)]
        mcp_servers: Map<String, Value>,
    }
    let Some(File { mcp_servers }) = read(file) else {
        return BTreeMap::new();
    };
    let usable = mcp_servers.into_iter().filter_map(|(name, json)| {
        let mut server = settings.plugin_mcp_server(&name, json)?;
        if let McpTransport::Stdio { cwd, .. } = &mut server.transport {
            *cwd = Some(cwd.as_ref().map_or(plugin.into(), |cwd| plugin.join(cwd)));
        }
        Some((name, server))
    });
    usable.take(MAX_PARTS).collect()
}

fn apps(file: &Path) -> Vec<String> {
    #[derive(Deserialize)]
    struct File {
        #[serde(default)]
        apps: BTreeMap<String, App>,
    }
    #[derive(Deserialize)]
    struct App {
        id: String,
    }
    let Some(File { apps }) = read(file) else {
        return Vec::new();
    };
    let mut ids: Vec<String> = Vec::new();
    for App { id } in apps.into_values().take(MAX_PARTS) {
        if !id.trim().is_empty() && !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}
