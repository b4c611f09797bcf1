//! Plugins switched on or off, and marketplaces added.

use std::collections::BTreeMap;
use std::path::PathBuf;

use quipu_wire::ConfigLayerSource;
use serde_json::Value;

use crate::features::Feature;
use crate::snapshot::Snapshot;

/// Where a marketplace comes from that the user has added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarketplaceSource {
    /// A directory of this machine.
    Local {
        /// The directory.
        path: PathBuf,
    },
    /// A repository, of which the home has a copy.
    Git(Repository),
}

/// A Git repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// Where it is.
    pub url: String,
    /// The branch, tag or commit; its default branch if absent.
    pub reference: Option<String>,
    /// The directories that are fetched; all if there are none.
    pub sparse_paths: Vec<String>,
}

impl MarketplaceSource {
    fn read(setting: &Value) -> Option<MarketplaceSource> {
        let text = |key: &str| setting.get(key)?.as_str().map(str::to_owned);
        match text("source_type")?.as_str() {
            "local" => Some(MarketplaceSource::Local {
                path: text("source")?.into(),
            }),
            "git" => {
                let paths = setting.get("sparse_paths").and_then(Value::as_array);
                let paths = paths.into_iter().flatten().filter_map(Value::as_str);
                Some(MarketplaceSource::Git(Repository {
                    url: text("source")?,
                    reference: text("ref"),
                    sparse_paths: paths.map(str::to_owned).collect(),
                }))
            }
            _ => None,
        }
    }
}

impl Snapshot {
    /// The marketplaces that the user has added, by name. As with plugins, only the user's own file counts.
    pub fn marketplaces(&self) -> BTreeMap<String, MarketplaceSource> {
        let own = self
            .stack()
            .enabled()
            .filter(|layer| matches!(layer.source, ConfigLayerSource::User { .. }));
        let tables = own.filter_map(|layer| layer.config.get("marketplaces")?.as_object());
        tables
            .flatten()
            .filter_map(|(name, setting)| Some((name.clone(), MarketplaceSource::read(setting)?)))
            .collect()
    }

    /// The plugins that the user has installed, by id, and whether each is on. A project cannot install or
    /// switch plugins, so only the user's own file counts.
    pub fn plugins(&self) -> BTreeMap<String, bool> {
        let own = self
            .stack()
            .enabled()
            .filter(|layer| matches!(layer.source, ConfigLayerSource::User { .. }));
        let tables = own.filter_map(|layer| layer.config.get("plugins")?.as_object());
        tables
            .flatten()
            .map(|(id, plugin)| {
                let enabled = plugin.get("enabled").and_then(Value::as_bool);
                (id.clone(), enabled.unwrap_or(true))
            })
            .collect()
    }

    /// The plugins that are in force: none while the feature is off.
    pub fn enabled_plugins(&self) -> Vec<String> {
        if !self.features().enabled(Feature::Plugins) {
            return Vec::new();
        }
        let plugins = self.plugins().into_iter();
        plugins
            .filter_map(|(id, enabled)| enabled.then_some(id))
            .collect()
    }
}
