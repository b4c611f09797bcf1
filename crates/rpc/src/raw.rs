//! JSON that is carried, not looked into. Params and results pass through a connection as slices
//! of the message they came in; the code that knows their type decodes them, once.

use std::fmt;

use bytes::Bytes;
use serde::de::{Deserialize, Deserializer};
use serde::{Serialize, Serializer, ser};
use serde_json::value::RawValue;

/// One JSON value as text: grammatically valid UTF-8 on a single line, cheap to clone.
///
/// A value taken from a [`Frame`](crate::Frame) shares that message's buffer and keeps it alive.
/// "Valid" is JSON's grammar only: a number may be too large for its type and a `\u` escape may be
/// half a surrogate pair, which [`decode`](Self::decode) reports.
#[derive(Clone, PartialEq, Eq)]
pub struct RawJson(Bytes);

impl RawJson {
    /// Serialises a value.
    pub fn encode<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<Self> {
        serde_json::to_vec(value).map(|json| Self(json.into()))
    }

    /// Decodes the value into a type, which may borrow from it.
    pub fn decode<'de, T: Deserialize<'de>>(&'de self) -> Result<T, DecodeError> {
        serde_json::from_slice(&self.0).map_err(DecodeError)
    }

    /// Whether the value is the literal `null`.
    pub fn is_null(&self) -> bool {
        self.0 == "null"
    }

    /// The text of the value.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Wraps text that a parser has already accepted as one JSON value without line breaks.
    pub(crate) fn from_checked(json: Bytes) -> Self {
        Self(json)
    }
}

/// Why a value does not fit a type: what the decoder says, without the position, which would count
/// from the start of the value and mean nothing to the author of the message around it.
#[derive(Debug)]
pub struct DecodeError(serde_json::Error);

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string();
        let position = format!(" at line {} column {}", self.0.line(), self.0.column());
        f.write_str(text.strip_suffix(&position).unwrap_or(&text))
    }
}

impl std::error::Error for DecodeError {}

impl From<serde_json::Value> for RawJson {
    fn from(value: serde_json::Value) -> Self {
        Self(value.to_string().into())
    }
}

/// Prints the size only: the content may hold secrets and be of any length.
impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawJson({} bytes)", self.0.len())
    }
}

/// Copies the text as it is into JSON output (which costs a scan for validity, not a tree).
impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::from_slice::<&RawValue>(&self.0)
            .map_err(ser::Error::custom)?
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        let text = String::from(Box::<str>::from(raw));
        Ok(Self(on_one_line(text.into())))
    }
}

/// Replaces line breaks by spaces, so that the text is safe on a line-framed transport. Valid JSON
/// has line breaks only between tokens, where a space means the same.
pub(crate) fn on_one_line(json: Bytes) -> Bytes {
    if memchr::memchr2(b'\n', b'\r', &json).is_none() {
        return json;
    }
    let mut json = Vec::from(json);
    for byte in &mut json {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    json.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_through_serialisation_unchanged() {
        let raw: RawJson = serde_json::from_str(r#"{"b":1.10,"a":[ 1 ]}"#).unwrap();
        assert_eq!(
            serde_json::to_string(&[&raw]).unwrap(),
            r#"[{"b":1.10,"a":[ 1 ]}]"#
        );
    }

    #[test]
    fn a_nested_multi_line_value_becomes_one_line() {
        let raw: RawJson = serde_json::from_str("{\r\n\"a\": \"x\\n\"\n}").unwrap();
        assert_eq!(raw.as_bytes(), b"{  \"a\": \"x\\n\" }");
    }

    #[test]
    fn decoding_may_borrow_and_its_errors_tell_no_position() {
        let raw = RawJson::from(serde_json::json!({"a": "text"}));
        let map: std::collections::HashMap<&str, &str> = raw.decode().unwrap();
        assert_eq!(map["a"], "text");
        let error = raw.decode::<Vec<u8>>().unwrap_err();
        assert_eq!(error.to_string(), "invalid type: map, expected a sequence");
    }

    #[test]
    fn debug_shows_no_content() {
        let raw = RawJson::encode("secret").unwrap();
        assert_eq!(format!("{raw:?}"), "RawJson(8 bytes)");
    }
}
