//! Puts a plugin into the home directory, whole or not at all, and takes it out again.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use quipu_wire::PluginAuthPolicy;
use serde::Deserialize;

use super::marketplace::Marketplace;
use super::{PluginError, PluginId};

/// The file that makes a directory a plugin.
const MANIFEST: &str = ".codex-plugin/plugin.json";
/// The name of the version that comes from a directory of this machine.
const VERSION: &str = "local";
/// The longest manifest that is read.
const MAX_BYTES: u64 = 1024 * 1024;
/// How far directories may be nested.
const MAX_DEPTH: usize = 16;

/// A plugin that can be installed.
#[derive(Debug)]
pub struct Installed {
    /// How settings name it.
    pub id: PluginId,
    /// When to log in for it.
    pub login: PluginAuthPolicy,
}

/// Copies a plugin of a marketplace into the home directory; an older copy is replaced. `allowed` is asked
/// once it is clear which plugin is meant, before anything is written.
pub fn install(
    home: &Path,
    marketplace: &Path,
    name: &str,
    allowed: impl FnOnce() -> Result<(), PluginError>,
) -> Result<Installed, PluginError> {
    let market = Marketplace::read(marketplace)?;
    let (source, login) = market.offer(marketplace, name)?;
    let id = PluginId::new(name, &market.name)?;
    allowed()?;
    check_source(&source, name)?;
    let place = place(home, &id);
    let shelf = place.parent().unwrap_or(home);
    let below = shelf.strip_prefix(home).unwrap_or(shelf);
    quipu_disk::private_dirs(home, below)?;
    // Made next to its place, so that it appears in one step; removed if that is not reached.
    let new = tempfile::Builder::new().prefix(".new-").tempdir_in(shelf)?;
    copy(&source, &new.path().join(VERSION), MAX_DEPTH)?;
    remove(&place)?;
    fs::rename(new.path(), &place)?;
    Ok(Installed { id, login })
}

/// Removes a plugin from the home directory; one that is not there is removed already.
pub fn uninstall(home: &Path, id: &PluginId) -> Result<(), PluginError> {
    Ok(remove(&place(home, id))?)
}

fn place(home: &Path, id: &PluginId) -> PathBuf {
    let cache = home.join("plugins/cache");
    cache.join(id.marketplace()).join(id.plugin())
}

fn remove(place: &Path) -> io::Result<()> {
    match quipu_disk::remove_tree(place) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Whether a directory is the plugin that the marketplace says it is.
fn check_source(directory: &Path, name: &str) -> Result<(), PluginError> {
    #[derive(Deserialize)]
    struct Manifest {
        name: Option<String>,
    }
    let refused = |text: String| Err(PluginError::Refused(text));
    if !directory.is_dir() {
        let directory = directory.display();
        return refused(format!(
            "plugin source path is not a directory: {directory}"
        ));
    }
    let file = directory.join(MANIFEST);
    if !file.is_file() {
        return refused(format!("missing plugin manifest: {}", file.display()));
    }
    let text = quipu_disk::read_text(&file, MAX_BYTES)?;
    let Ok(manifest) = serde_json::from_str::<Manifest>(&text) else {
        let file = file.display();
        return refused(format!("missing or invalid plugin manifest: {file}"));
    };
    match manifest.name {
        Some(other) if !other.trim().is_empty() && other != name => refused(format!(
            "plugin manifest name `{other}` does not match marketplace plugin name `{name}`"
        )),
        _ => Ok(()),
    }
}

/// Copies files and directories; links and everything else stay behind.
fn copy(from: &Path, to: &Path, depth: usize) -> io::Result<()> {
    if depth == 0 {
        let text = format!("{} is nested too deeply", from.display());
        return Err(io::Error::other(text));
    }
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if kind.is_dir() {
            copy(&path, &target, depth - 1)?;
        } else if kind.is_file() {
            fs::copy(&path, &target)?;
        }
    }
    Ok(())
}
