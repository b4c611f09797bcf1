//! JSON that only passes through: kept as text, not as a tree. Readers of it recurse, so its depth is limited.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::value::RawValue;

/// How deep JSON of others may nest. Most readers stop at 128 levels or sooner, and what is passed on lies some
/// levels deeper in its message.
const MAX_DEPTH: usize = 100;

/// JSON that nests too deep to be passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooDeep;

impl fmt::Display for TooDeep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JSON nested deeper than {MAX_DEPTH} levels")
    }
}

impl std::error::Error for TooDeep {}

/// Any JSON value, kept as the text it came in (on one line). A clone shares the text. What was read from others
/// nests at most 100 levels deep.
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

    pub(crate) fn from_raw(raw: Box<RawValue>) -> Result<Json, TooDeep> {
        check_depth(raw.get())?;
        // A line break outside a string is only white space; inside one it cannot stand. Without it the
        // value can be written into line-framed streams and files.
        if raw.get().bytes().any(|byte| byte == b'\n' || byte == b'\r') {
            let one_line = raw.get().replace(['\n', '\r'], " ");
            return Ok(Json(RawValue::from_string(one_line).unwrap_or(raw).into()));
        }
        Ok(Json(raw.into()))
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

impl TryFrom<Box<RawValue>> for Json {
    type Error = TooDeep;

    fn try_from(raw: Box<RawValue>) -> Result<Json, TooDeep> {
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
        Json::from_raw(Box::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

/// Refuses JSON text whose arrays and objects nest deeper than [`MAX_DEPTH`].
fn check_depth(text: &str) -> Result<(), TooDeep> {
    let (mut depth, mut in_string) = (0, false);
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => in_string = !in_string,
            // What is escaped cannot end the string.
            b'\\' if in_string => drop(bytes.next()),
            b'[' | b'{' if !in_string => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(TooDeep);
                }
            }
            b']' | b'}' if !in_string => depth -= 1,
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_counts_arrays_and_objects_outside_strings() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let quoted = format!(r#"{{"a":"{}\"[","b":[[]]}}"#, "[".repeat(1000));
        let wide = format!("[{}0]", "[{}],".repeat(1000));
        for text in [nested(MAX_DEPTH), quoted, wide] {
            assert_eq!(serde_json::from_str::<Json>(&text).unwrap().get(), text);
        }
        for levels in [MAX_DEPTH + 1, 100_000] {
            let error = serde_json::from_str::<Json>(&nested(levels)).unwrap_err();
            assert!(
                error
                    .to_string()
                    .starts_with("JSON nested deeper than 100 levels")
            );
        }
    }
}
