//! Plugins switched on or off.

use std::collections::BTreeMap;

use quipu_wire::ConfigLayerSource;
use serde_json::Value;

use crate::features::Feature;
use crate::snapshot::Snapshot;

impl Snapshot {
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
