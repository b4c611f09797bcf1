//! Settings given for one run or one thread: `-c key=value`, `--enable`, `--disable`, and the `config`
//! member of `thread/start`.

use std::fmt;

use serde_json::{Number, Value};

use crate::Table;
use crate::document;
use crate::features::{Feature, Stage};
use crate::keypath::{self, TooManyKeys};

/// Settings that lie over the configuration files. `Debug` shows only their names.
#[derive(Clone, Default, PartialEq)]
pub struct Overrides {
    table: Table,
}

impl fmt::Debug for Overrides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Overrides")
            .field(&self.table.keys().collect::<Vec<_>>())
            .finish()
    }
}

/// An override that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OverrideError {
    /// There is no `=`.
    #[error("Invalid override (missing '='): {0}")]
    NoValue(String),
    /// There is nothing before the `=`.
    #[error("Empty key in override: {0}")]
    NoKey(String),
    /// `--enable` or `--disable` names no feature.
    #[error("Unknown feature flag: {0}; there are: {known}", known = known_features())]
    UnknownFeature(String),
    /// The key has too many parts.
    #[error(transparent)]
    Key(#[from] TooManyKeys),
}

fn known_features() -> String {
    let is_offered = |feature: &&Feature| feature.stage() != Stage::Removed;
    let offered = Feature::ALL.iter().filter(is_offered);
    offered.map(|it| it.name()).collect::<Vec<_>>().join(", ")
}

impl Overrides {
    /// Nothing is overridden.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// The overriding settings.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Adds `key=value` from the command line. The value is TOML, or a plain string when it is not.
    pub fn add_flag(&mut self, flag: &str) -> Result<(), OverrideError> {
        let (key, value) = flag
            .split_once('=')
            .ok_or_else(|| OverrideError::NoValue(flag.to_owned()))?;
        let (key, value) = (key.trim(), value.trim());
        if key.is_empty() {
            return Err(OverrideError::NoKey(flag.to_owned()));
        }
        let value = document::parse_value(value)
            .unwrap_or_else(|| Value::from(value.trim_matches(['"', '\''])));
        // An old name of a feature, still in use on command lines.
        let key = if key == "use_legacy_landlock" {
            "features.use_legacy_landlock"
        } else {
            key
        };
        self.set(&keypath::split(key)?, value);
        Ok(())
    }

    /// Switches a feature on or off, as `--enable` and `--disable` do.
    pub fn set_feature(&mut self, name: &str, enabled: bool) -> Result<(), OverrideError> {
        if Feature::named(name).is_none() {
            return Err(OverrideError::UnknownFeature(name.to_owned()));
        }
        self.set(
            &["features".to_owned(), name.to_owned()],
            Value::Bool(enabled),
        );
        Ok(())
    }

    /// Adds settings by dotted key, as a client sends them with a thread. A null overrides nothing.
    pub fn add_json(&mut self, settings: &Table) -> Result<(), TooManyKeys> {
        for (key, value) in settings {
            if let Some(value) = toml_like(value) {
                self.set(&keypath::split(key)?, value);
            }
        }
        Ok(())
    }

    /// Lays other overrides over these.
    pub fn extend(&mut self, other: &Overrides) {
        crate::layer::merge(&mut self.table, &other.table);
    }

    fn set(&mut self, path: &[String], value: Value) {
        let Some((last, parents)) = path.split_last() else {
            return;
        };
        let mut table = &mut self.table;
        for parent in parents {
            let slot = table
                .entry(parent.clone())
                .or_insert_with(|| Value::Object(Table::new()));
            if !slot.is_object() {
                *slot = Value::Object(Table::new());
            }
            let Value::Object(inner) = slot else { return };
            table = inner;
        }
        table.insert(last.clone(), value);
    }
}

/// JSON as TOML could have said it: no nulls, integers within 64 bits.
fn toml_like(value: &Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Number(number) if number.is_u64() && !number.is_i64() => {
            Number::from_f64(number.as_f64()?).map(Value::Number)
        }
        Value::Array(items) => Some(items.iter().filter_map(toml_like).collect()),
        Value::Object(table) => Some(
            table
                .iter()
                .filter_map(|(k, v)| Some((k.clone(), toml_like(v)?)))
                .collect(),
        ),
        other => Some(other.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn flags(flags: &[&str]) -> Value {
        let mut overrides = Overrides::default();
        for flag in flags {
            overrides.add_flag(flag).unwrap();
        }
        Value::Object(overrides.table)
    }

    /// The same flags give the same layer on the official server, but for quoted keys.
    #[test]
    fn flags_become_a_table() {
        for (given, expected) in [
            (vec!["a.b=c"], json!({"a": {"b": "c"}})),
            (vec!["a=\"x\""], json!({"a": "x"})),
            (vec!["a=[1,2"], json!({"a": "[1,2"})),
            (vec![" a = x "], json!({"a": "x"})),
            (vec!["a.=x"], json!({"a": {"": "x"}})),
            (vec!["a="], json!({"a": ""})),
            (vec!["a='x"], json!({"a": "x"})),
            (vec!["a=x=y"], json!({"a": "x=y"})),
            (vec!["a=1 # c"], json!({"a": 1})),
            (vec!["a=1\nb=2"], json!({"a": 1})),
            (vec!["a={\"b\":1}"], json!({"a": "{\"b\":1}"})),
            (
                vec!["a=1_000", "b=0x10", "c=1.0"],
                json!({"a": 1000, "b": 16, "c": 1.0}),
            ),
            (vec!["a={b=1}", "a.c=2"], json!({"a": {"b": 1, "c": 2}})),
            (vec!["a.c=2", "a={b=1}"], json!({"a": {"b": 1}})),
            (vec!["a=1", "a.b=2"], json!({"a": {"b": 2}})),
            (
                vec!["shell_environment_policy.set={\"FOO\" = \"bar\"}"],
                json!({"shell_environment_policy": {"set": {"FOO": "bar"}}}),
            ),
            (
                vec!["use_legacy_landlock=true"],
                json!({"features": {"use_legacy_landlock": true}}),
            ),
            (
                vec!["projects.\"/a.b\".trust_level=trusted"],
                json!({"projects": {"/a.b": {"trust_level": "trusted"}}}),
            ),
        ] {
            assert_eq!(flags(&given), expected, "{given:?}");
        }
    }

    #[test]
    fn bad_flags_are_explained() {
        let error = |flag: &str| Overrides::default().add_flag(flag).unwrap_err().to_string();
        assert_eq!(error("model"), "Invalid override (missing '='): model");
        assert_eq!(error("=x"), "Empty key in override: =x");
        let unknown = Overrides::default().set_feature("zz", true).unwrap_err();
        let text = unknown.to_string();
        assert!(
            text.starts_with("Unknown feature flag: zz; there are: ")
                && text.contains("multi_agent"),
            "{text}"
        );
    }

    #[test]
    fn json_settings_lose_what_toml_cannot_say() {
        let mut overrides = Overrides::default();
        let Value::Object(settings) = json!({
            "model": null, "a.b": [1, null], "big": u64::MAX, "mcp_servers": {"x": {"command": "c"}},
        }) else {
            panic!("not a table")
        };
        overrides.add_json(&settings).unwrap();
        let expected = json!({
            "a": {"b": [1]}, "big": 18446744073709552000.0, "mcp_servers": {"x": {"command": "c"}},
        });
        assert_eq!(Value::Object(overrides.table), expected);
    }
}
