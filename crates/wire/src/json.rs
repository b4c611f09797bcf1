//! JSON that only passes through: kept as text, not as a tree.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// Any JSON value, kept as the text it came in (on one line). A clone shares the text.
#[derive(Clone)]
pub struct Json(Arc<RawValue>);

impl Json {
    /// Serialises a value.
    pub fn new<T: Serialize + ?Sized>(value: &T) -> Result<Json, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(|raw| Json(raw.into()))
    }

    /// The literal `null`.
    #[must_use]
    pub fn null() -> Json {
        Json(RawValue::NULL.to_owned().into())
    }

    pub(crate) fn from_raw(raw: Box<RawValue>) -> Json {
        // A line break outside a string is only white space; inside one it cannot stand. Without it the
        // value can be written into line-framed streams and files.
        if raw.get().bytes().any(|byte| byte == b'\n' || byte == b'\r') {
            let one_line = raw.get().replace(['\n', '\r'], " ");
            return Json(RawValue::from_string(one_line).unwrap_or(raw).into());
        }
        Json(raw.into())
    }

    /// The text.
    #[must_use]
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// The text, for those who keep it as well.
    #[must_use]
    pub fn shared(&self) -> Arc<RawValue> {
        Arc::clone(&self.0)
    }

    /// Reads the value as a type.
    pub fn parse<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.get())
    }

    /// Whether this is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.get() == "null"
    }

    /// The value as a tree.
    #[must_use]
    pub fn to_value(&self) -> serde_json::Value {
        self.parse().unwrap_or_default()
    }
}

impl Default for Json {
    fn default() -> Json {
        Json::null()
    }
}

impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Json {
        Json::new(&value).unwrap_or_default()
    }
}

impl From<Box<RawValue>> for Json {
    fn from(raw: Box<RawValue>) -> Json {
        Json::from_raw(raw)
    }
}

impl PartialEq for Json {
    /// Equal as values: spelling and order of members do not count.
    fn eq(&self, other: &Json) -> bool {
        self.get() == other.get() || self.to_value() == other.to_value()
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (*self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Json::from_raw)
    }
}
