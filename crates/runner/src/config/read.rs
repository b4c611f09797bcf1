//! Reads single settings, and says which one is wrong and how.

use std::time::Duration;

use serde_json::{Map, Value};

use super::ConfigError;

/// One object of the front matter.
pub struct Section<'a> {
    name: String,
    values: Option<&'a Map<String, Value>>,
}

impl<'a> Section<'a> {
    /// An object of the root; empty if it is not there.
    pub fn of(root: &'a Map<String, Value>, name: &str) -> Result<Section<'a>, ConfigError> {
        Section::within(root.get(name), name.to_owned())
    }

    /// An object inside of this one.
    pub fn section(&self, name: &str) -> Result<Section<'a>, ConfigError> {
        Section::within(self.raw(name), format!("{}.{name}", self.name))
    }

    fn within(value: Option<&'a Value>, name: String) -> Result<Section<'a>, ConfigError> {
        let values = match value {
            None | Some(Value::Null) => None,
            Some(Value::Object(values)) => Some(values),
            Some(other) => {
                let problem = format!("must be a map, not {other}");
                return Err(ConfigError { key: name, problem });
            }
        };
        Ok(Section { name, values })
    }

    pub fn error(&self, key: &str, problem: impl Into<String>) -> ConfigError {
        ConfigError {
            key: format!("{}.{key}", self.name),
            problem: problem.into(),
        }
    }

    fn raw(&self, key: &str) -> Option<&'a Value> {
        self.values?.get(key).filter(|it| !it.is_null())
    }

    pub fn value(&self, key: &str) -> Option<Value> {
        self.raw(key).cloned()
    }

    pub fn text(&self, key: &str) -> Result<Option<String>, ConfigError> {
        match self.raw(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(self.error(key, format!("must be a text, not {other}"))),
        }
    }

    /// A list of texts; a single text with commas is one, too.
    pub fn texts(&self, key: &str) -> Result<Option<Vec<String>>, ConfigError> {
        let all = match self.raw(key) {
            None => return Ok(None),
            Some(Value::String(text)) => text.split(',').map(|it| it.trim().to_owned()).collect(),
            Some(Value::Array(values)) => {
                let texts = values.iter().map(|it| it.as_str().map(str::to_owned));
                texts.collect::<Option<Vec<_>>>()
            }
            .ok_or_else(|| self.error(key, "must be a list of texts"))?,
            Some(other) => {
                return Err(self.error(key, format!("must be a list of texts, not {other}")));
            }
        };
        Ok(Some(all))
    }

    pub fn object(&self, key: &str) -> Result<Map<String, Value>, ConfigError> {
        let section = self.section(key)?;
        Ok(section.values.cloned().unwrap_or_default())
    }

    pub fn integer(&self, key: &str) -> Result<Option<i64>, ConfigError> {
        let Some(value) = self.raw(key) else {
            return Ok(None);
        };
        let wrong = || self.error(key, format!("must be an integer, not {value}"));
        integer(value).map(Some).ok_or_else(wrong)
    }

    /// A number above zero.
    pub fn positive<T: TryFrom<i64>>(&self, key: &str, default: i64) -> Result<T, ConfigError> {
        let given = self.integer(key)?.unwrap_or(default);
        let usable = (given > 0).then(|| T::try_from(given).ok()).flatten();
        usable.ok_or_else(|| self.error(key, format!("must be a positive integer, not {given}")))
    }

    pub fn positive_ms(&self, key: &str, default: i64) -> Result<Duration, ConfigError> {
        self.positive(key, default).map(Duration::from_millis)
    }

    pub fn count(&self, key: &str) -> Result<Option<u64>, ConfigError> {
        match self.raw(key) {
            None => Ok(None),
            Some(_) => self.positive(key, 1).map(Some),
        }
    }

    /// A number that may be zero.
    pub fn size<T: TryFrom<i64>>(&self, key: &str, default: i64) -> Result<T, ConfigError> {
        let given = self.integer(key)?.unwrap_or(default);
        let wrong = |_| self.error(key, format!("must be 0 or a positive integer, not {given}"));
        T::try_from(given).map_err(wrong)
    }

    /// An amount of money.
    pub fn amount(&self, key: &str) -> Result<Option<f64>, ConfigError> {
        let Some(value) = self.raw(key) else {
            return Ok(None);
        };
        let usable = value.as_f64().filter(|it| it.is_finite() && *it >= 0.0);
        let wrong = || self.error(key, format!("must be a number of at least 0, not {value}"));
        usable.map(Some).ok_or_else(wrong)
    }
}

/// An integer, also one that is written as text.
pub fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}
