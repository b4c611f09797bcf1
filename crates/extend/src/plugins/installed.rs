//! The plugins in the home directory, and which of them are in force.

use std::fs;
use std::path::{Path, PathBuf};

use quipu_config::Snapshot;

use super::contents::Contents;
use super::manifest::Manifest;
use super::{PluginId, VERSION};

/// A plugin that is installed and switched on.
#[derive(Debug, Clone)]
pub struct Plugin {
    /// How settings name it.
    pub id: PluginId,
    /// Its name for people.
    pub display_name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Its directory.
    pub root: PathBuf,
    /// What it brings.
    pub contents: Contents,
}

impl Plugin {
    /// The files that say what it is and brings; they need not exist.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut files = self.contents.files.clone();
        files.push(self.root.clone());
        files
    }
}

/// The plugins in force, by id. One whose files are gone or cannot be used is left out.
pub fn active(settings: &Snapshot) -> Vec<Plugin> {
    let ids = settings.enabled_plugins().into_iter();
    ids.filter_map(|id| {
        let id = PluginId::parse(&id).ok()?;
        let root = version(settings.home().path(), &id)?;
        let Some(manifest) = Manifest::read(&root) else {
            tracing::warn!(plugin = %id, "an installed plugin has no usable manifest");
            return None;
        };
        Some(plugin(id, root, manifest, settings))
    })
    .collect()
}

/// The plugin in a directory.
pub(super) fn plugin(
    id: PluginId,
    root: PathBuf,
    manifest: Manifest,
    settings: &Snapshot,
) -> Plugin {
    let contents = Contents::read(&root, &manifest, settings);
    let shown = manifest.interface.and_then(|it| it.display_name);
    let shown = shown.filter(|name| !name.trim().is_empty());
    Plugin {
        display_name: shown.unwrap_or_else(|| id.plugin().to_owned()),
        description: manifest.description,
        id,
        root,
        contents,
    }
}

/// Where the versions of a plugin are.
pub(super) fn place(home: &Path, id: &PluginId) -> PathBuf {
    let cache = home.join("plugins/cache");
    cache.join(id.marketplace()).join(id.plugin())
}

/// The directory of the version that counts: one that was copied from this machine, else the last by name.
pub(super) fn version(home: &Path, id: &PluginId) -> Option<PathBuf> {
    let place = place(home, id);
    let local = place.join(VERSION);
    if local.is_dir() {
        return Some(local);
    }
    let entries = fs::read_dir(place).ok()?.flatten();
    let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let names = directories.filter(|it| !it.file_name().to_string_lossy().starts_with('.'));
    names.map(|entry| entry.path()).max()
}
