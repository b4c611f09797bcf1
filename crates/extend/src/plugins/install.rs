//! Puts a plugin into the home directory, whole or not at all, and takes it out again.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use quipu_wire::PluginAuthPolicy;

use super::copy::PluginCopy;
use super::installed::place;
use super::manifest::{FILE, Manifest};
use super::marketplace::Marketplace;
use super::{CURATED, PluginError, PluginId, VERSION, curated_version};

/// A plugin that can be installed. Nothing is written until [`Offered::install`].
#[derive(Debug)]
pub struct Offered {
    /// How settings name it.
    pub id: PluginId,
    /// When to log in for it.
    pub login: PluginAuthPolicy,
    source: PathBuf,
}

impl Offered {
    /// The plugin of this name in a marketplace, if this product may install it.
    pub fn find(marketplace: &Path, name: &str) -> Result<Offered, PluginError> {
        let market = Marketplace::read(marketplace)?;
        let (source, login) = market.offer(marketplace, name)?;
        let id = PluginId::new(name, &market.name)?;
        Ok(Offered { id, login, source })
    }

    /// Copies it into the home directory; an older copy is replaced.
    pub fn install(&self, home: &Path) -> Result<(), PluginError> {
        check_source(&self.source, self.id.plugin())?;
        let version = match self.id.marketplace() == CURATED {
            true => curated_version(home)?,
            false => VERSION.to_owned(),
        };
        let place = place(home, &self.id);
        let shelf = place.parent().unwrap_or(home);
        let below = shelf.strip_prefix(home).unwrap_or(shelf);
        quipu_disk::private_dirs(home, below)?;
        // Made next to its place, so that it appears in one step; removed if that is not reached.
        let new = tempfile::Builder::new().prefix(".new-").tempdir_in(shelf)?;
        PluginCopy::new(&self.source).run(&new.path().join(version))?;
        remove(&place)?;
        fs::rename(new.path(), &place)?;
        Ok(())
    }
}

/// Removes a plugin from the home directory; one that is not there is removed already.
pub fn uninstall(home: &Path, id: &PluginId) -> Result<(), PluginError> {
    Ok(remove(&place(home, id))?)
}

fn remove(place: &Path) -> io::Result<()> {
    match quipu_disk::remove_tree(place) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Whether a directory is the plugin that the marketplace says it is.
fn check_source(directory: &Path, name: &str) -> Result<(), PluginError> {
    let refused = |text: String| Err(PluginError::Refused(text));
    if !directory.is_dir() {
        let directory = directory.display();
        return refused(format!(
            "plugin source path is not a directory: {directory}"
        ));
    }
    let file = directory.join(FILE);
    if !file.is_file() {
        return refused(format!("missing plugin manifest: {}", file.display()));
    }
    let Some(manifest) = Manifest::read(directory) else {
        let file = file.display();
        return refused(format!("missing or invalid plugin manifest: {file}"));
    };
    match manifest.name {
        Some(other) if other != name => refused(format!(
            "plugin manifest name `{other}` does not match marketplace plugin name `{name}`"
        )),
        _ => Ok(()),
    }
}
