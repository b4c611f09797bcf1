//! Sources of settings, and the stack of them that makes the configuration in force.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use quipu_wire::{ConfigLayer, ConfigLayerMetadata, ConfigLayerSource};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{Table, document};

/// One source of settings: a file, or the command line. `Debug` does not show the settings, which may
/// hold secrets.
#[derive(Clone)]
pub struct Layer {
    /// Where the settings come from.
    pub source: ConfigLayerSource,
    /// The settings, with paths resolved against the place of the source.
    pub config: Table,
    /// Changes whenever `config` changes.
    pub version: String,
    /// Why the settings are not in force, for a project that is not trusted.
    pub disabled_reason: Option<String>,
    /// The text they were read from.
    pub(crate) file: Option<SourceFile>,
}

/// A configuration file as it was read. `Debug` does not show its text.
#[derive(Clone)]
pub struct SourceFile {
    /// Its path.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

impl Layer {
    pub(crate) fn new(source: ConfigLayerSource, config: Table, file: Option<SourceFile>) -> Self {
        let version = version(&config);
        Self {
            source,
            config,
            version,
            disabled_reason: None,
            file,
        }
    }

    /// Whether the settings count.
    pub fn is_enabled(&self) -> bool {
        self.disabled_reason.is_none()
    }

    /// The layer's name and version, as clients see them.
    pub fn metadata(&self) -> ConfigLayerMetadata {
        ConfigLayerMetadata {
            name: self.source.clone(),
            version: self.version.clone(),
        }
    }

    /// The layer as clients see it.
    pub fn to_wire(&self) -> ConfigLayer {
        ConfigLayer {
            name: self.source.clone(),
            version: self.version.clone(),
            config: Value::Object(self.config.clone()).into(),
            disabled_reason: self.disabled_reason.clone(),
        }
    }

    /// The directory whose rules, hooks and skills belong to this layer.
    pub fn directory(&self) -> Option<&Path> {
        self.file.as_ref()?.path.parent()
    }
}

impl fmt::Debug for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Layer")
            .field("source", &self.source)
            .field("version", &self.version)
            .field("disabled_reason", &self.disabled_reason)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for SourceFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceFile")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// Layers from the lowest precedence to the highest.
#[derive(Debug, Clone, Default)]
pub struct Stack {
    layers: Vec<Layer>,
}

impl Stack {
    pub(crate) fn push(&mut self, layer: Layer) {
        self.layers.push(layer);
    }

    /// All layers, lowest precedence first, disabled ones included.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The layers that count, lowest precedence first.
    pub fn enabled(&self) -> impl DoubleEndedIterator<Item = &Layer> {
        self.layers.iter().filter(|layer| layer.is_enabled())
    }

    /// The layers that count and are not a project's, which must not decide where secrets are sent.
    pub(crate) fn own(&self) -> impl DoubleEndedIterator<Item = &Layer> {
        let is_project = |it: &&Layer| matches!(it.source, ConfigLayerSource::Project { .. });
        self.enabled().filter(move |it| !is_project(it))
    }

    /// The user's own layer.
    pub fn user(&self) -> Option<&Layer> {
        self.layers
            .iter()
            .find(|layer| matches!(layer.source, ConfigLayerSource::User { .. }))
    }

    /// The administrator's older layer above all others.
    pub(crate) fn managed(&self) -> Option<&Layer> {
        self.layers.iter().find(|layer| {
            matches!(
                layer.source,
                ConfigLayerSource::LegacyManagedConfigTomlFromFile { .. }
            )
        })
    }

    pub(crate) fn user_mut(&mut self) -> Option<&mut Layer> {
        self.layers
            .iter_mut()
            .find(|layer| matches!(layer.source, ConfigLayerSource::User { .. }))
    }

    /// The configuration in force: tables are merged, anything else is replaced by a higher layer.
    pub fn merged(&self) -> Table {
        let mut merged = Table::new();
        for layer in self.enabled() {
            merge(&mut merged, &layer.config);
        }
        merged
    }

    /// For every value in force, by dotted path, the layer it comes from.
    pub fn origins(&self) -> BTreeMap<String, ConfigLayerMetadata> {
        let mut origins = BTreeMap::new();
        let mut path = Vec::new();
        self.collect_origins(&Value::Object(self.merged()), &mut path, &mut origins);
        origins
    }

    fn collect_origins(
        &self,
        value: &Value,
        path: &mut Vec<String>,
        origins: &mut BTreeMap<String, ConfigLayerMetadata>,
    ) {
        let children: Vec<(String, &Value)> = match value {
            Value::Object(table) if !document::is_date(value) => {
                table.iter().map(|(k, v)| (k.clone(), v)).collect()
            }
            Value::Array(items) => items
                .iter()
                .enumerate()
                .map(|(i, v)| (i.to_string(), v))
                .collect(),
            _ => {
                if let Some(layer) = self.highest_with(path) {
                    origins.insert(path.join("."), layer.metadata());
                }
                return;
            }
        };
        for (name, child) in children {
            path.push(name);
            self.collect_origins(child, path, origins);
            path.pop();
        }
    }

    /// The highest layer in force that has a value at `path`.
    pub(crate) fn highest_with(&self, path: &[String]) -> Option<&Layer> {
        self.enabled()
            .rev()
            .find(|layer| get(&layer.config, path).is_some())
    }
}

/// The value at a path; array elements go by their index.
pub(crate) fn get<'a>(table: &'a Table, path: &[String]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    rest.iter()
        .try_fold(table.get(first)?, |value, step| match value {
            Value::Array(items) => items.get(step.parse::<usize>().ok()?),
            value => value.get(step),
        })
}

/// Lays one table over another.
pub(crate) fn merge(base: &mut Table, over: &Table) {
    for (key, value) in over {
        match (base.get_mut(key), value) {
            (Some(Value::Object(below)), Value::Object(above)) => merge(below, above),
            _ => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}

/// `sha256:` and the digest of the settings as compact JSON with sorted keys.
pub(crate) fn version(config: &Table) -> String {
    let mut text = String::new();
    canonical_table(config, &mut text);
    let digest = Sha256::digest(text.as_bytes());
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

fn canonical_table(table: &Table, out: &mut String) {
    let sorted: BTreeMap<&String, &Value> = table.iter().collect();
    out.push('{');
    for (index, (key, value)) in sorted.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(&Value::from(key.as_str()).to_string());
        out.push(':');
        canonical(value, out);
    }
    out.push('}');
}

fn canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(table) => canonical_table(table, out),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                canonical(item, out);
            }
            out.push(']');
        }
        leaf => out.push_str(&leaf.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn table(value: Value) -> Table {
        let Value::Object(table) = value else {
            panic!("not a table")
        };
        table
    }

    fn stack(layers: &[(ConfigLayerSource, Value)]) -> Stack {
        let mut stack = Stack::default();
        for (source, config) in layers {
            stack.push(Layer::new(source.clone(), table(config.clone()), None));
        }
        stack
    }

    /// Versions as the official server computes them for the same settings.
    #[test]
    fn versions_equal_the_reference() {
        for (config, expected) in [
            (
                json!({}),
                "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
            ),
            (
                json!({"model": "x"}),
                "78b0e11c6754fc9671c2034f4a068d3a0e53c1c22a5a33900dd46bc8cd9136f3",
            ),
            (
                json!({"model": 7}),
                "783c1f937febecd1f203d80c658400b2738424a5159d99905189a690e3321499",
            ),
            (
                json!({"model": "m", "approval_policy": "never", "sandbox_mode": "workspace-write"}),
                "2d4abb28519e68c797829b1b2f889b6674c866eba867a99b3ba73093410c3617",
            ),
            (
                json!({"a": {"b": 1}}),
                "815ce69073bf37a71afee34156192e1d9921dfc365dc653a02516902c3a5e2e7",
            ),
        ] {
            assert_eq!(version(&table(config)), format!("sha256:{expected}"));
        }
    }

    #[test]
    fn tables_merge_and_everything_else_is_replaced() {
        let stack = stack(&[
            (
                ConfigLayerSource::SessionFlags,
                json!({"a": {"x": 1, "y": [1, 2]}, "b": {"c": 1}}),
            ),
            (
                ConfigLayerSource::SessionFlags,
                json!({"a": {"y": [3], "z": {}}, "b": 2}),
            ),
        ]);
        let expected = json!({"a": {"x": 1, "y": [3], "z": {}}, "b": 2});
        assert_eq!(Value::Object(stack.merged()), expected);
        let origins: Vec<_> = stack.origins().into_keys().collect();
        assert_eq!(origins, ["a.x", "a.y.0", "b"]);
    }
}
