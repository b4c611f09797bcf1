//! What must change here so that the plugins are those of the user's account.

use std::collections::BTreeSet;

use quipu_config::Snapshot;
use quipu_config::edit::Edit;
use serde::Deserialize;
use serde_json::Value;

use super::marketplace::{Marketplace, PLACE};
use super::{
    CURATED, Offered, PluginError, PluginId, curated_root, curated_version, installed, uninstall,
};

/// A plugin of the account, as the backend tells of it.
#[derive(Debug, Clone, Deserialize)]
pub struct RemotePlugin {
    /// Its name.
    pub name: String,
    /// The marketplace that it is from.
    pub marketplace_name: String,
    /// Whether it is installed.
    pub enabled: bool,
}

/// What must change.
#[derive(Debug, Default)]
pub struct Sync {
    install: Vec<Offered>,
    enable: Vec<PluginId>,
    remove: Vec<PluginId>,
}

impl Sync {
    /// Compares the account with what is installed. If `additive`, nothing is removed.
    pub fn plan(
        settings: &Snapshot,
        remote: &[RemotePlugin],
        additive: bool,
    ) -> Result<Sync, PluginError> {
        let refused = |text: String| Err(PluginError::Refused(text));
        if let Some(other) = remote.iter().find(|it| it.marketplace_name != CURATED) {
            let name = &other.marketplace_name;
            return refused(format!(
                "remote marketplace `{name}` is not available locally"
            ));
        }
        let home = settings.home().path();
        let file = curated_root(home).join(PLACE);
        if !file.is_file() {
            return refused("local curated marketplace is not available".to_owned());
        }
        curated_version(home)?;
        let market = Marketplace::read(&file)?;
        let switches = settings.plugins();
        let mut sync = Sync::default();
        let mut wanted = BTreeSet::new();
        for plugin in remote.iter().filter(|it| it.enabled) {
            if market.find(&plugin.name).is_none() {
                tracing::warn!(plugin = plugin.name, "the account has an unknown plugin");
                continue;
            }
            let offered = Offered::find(&file, &plugin.name)?;
            let id = offered.id.clone();
            if !wanted.insert(id.to_string()) {
                continue;
            }
            if installed::version(home, &id).is_none() {
                sync.install.push(offered);
            }
            if switches.get(&id.to_string()) != Some(&true) {
                sync.enable.push(id);
            }
        }
        let own = switches.keys().filter_map(|id| PluginId::parse(id).ok());
        let gone = |id: &PluginId| id.marketplace() == CURATED && !wanted.contains(&id.to_string());
        sync.remove.extend(own.filter(|id| !additive && gone(id)));
        Ok(sync)
    }

    /// Whether nothing must change.
    pub fn is_empty(&self) -> bool {
        self.install.is_empty() && self.enable.is_empty() && self.remove.is_empty()
    }

    /// Installs what is missing.
    pub fn install(&self, settings: &Snapshot) -> Result<(), PluginError> {
        let home = settings.home().path();
        self.install.iter().try_for_each(|it| it.install(home))
    }

    /// What to change in the settings.
    pub fn edits(&self) -> Vec<Edit> {
        let key = |id: &PluginId| id.to_string();
        let on = self.enable.iter().map(key);
        let on = on.map(|id| Edit::set(&["plugins", &id, "enabled"], true));
        let off = self.remove.iter().map(key);
        let off = off.map(|id| Edit::set(&["plugins", &id], Value::Null));
        on.chain(off).collect()
    }

    /// Removes what the account does not have.
    pub fn remove(&self, settings: &Snapshot) -> Result<(), PluginError> {
        let home = settings.home().path();
        self.remove.iter().try_for_each(|id| uninstall(home, id))
    }
}
