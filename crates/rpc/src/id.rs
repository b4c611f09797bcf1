//! Request ids. A client may use integers or strings and must get back what it sent, with its
//! type, so an id is never normalised.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};

/// The id of a request, as it came.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Id {
    /// A signed 64-bit integer.
    Integer(i64),
    /// Any string, also an empty one.
    String(String),
}

impl From<i64> for Id {
    fn from(id: i64) -> Self {
        Self::Integer(id)
    }
}

impl From<&str> for Id {
    fn from(id: &str) -> Self {
        Self::String(id.to_owned())
    }
}

impl From<String> for Id {
    fn from(id: String) -> Self {
        Self::String(id)
    }
}

/// Integers print bare and strings quoted and escaped, so that `7` and `"7"` differ in logs.
impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(id) => id.fmt(f),
            Self::String(id) => write!(f, "{id:?}"),
        }
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Integer(id) => serializer.serialize_i64(*id),
            Self::String(id) => serializer.serialize_str(id),
        }
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct IdVisitor;

        impl Visitor<'_> for IdVisitor {
            type Value = Id;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a signed 64-bit integer")
            }

            fn visit_i64<E: de::Error>(self, id: i64) -> Result<Id, E> {
                Ok(Id::Integer(id))
            }

            fn visit_u64<E: de::Error>(self, id: u64) -> Result<Id, E> {
                i64::try_from(id)
                    .map(Id::Integer)
                    .map_err(|_| E::invalid_value(de::Unexpected::Unsigned(id), &self))
            }

            fn visit_str<E: de::Error>(self, id: &str) -> Result<Id, E> {
                Ok(Id::from(id))
            }

            fn visit_string<E: de::Error>(self, id: String) -> Result<Id, E> {
                Ok(Id::String(id))
            }
        }

        deserializer.deserialize_any(IdVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_type_and_value_through_json() {
        for text in [
            "0",
            "-9223372036854775808",
            "9223372036854775807",
            r#""""#,
            r#""7""#,
        ] {
            let id: Id = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&id).unwrap(), text);
        }
    }

    #[test]
    fn refuses_what_is_neither_string_nor_i64() {
        for text in [
            "null",
            "1.5",
            "9223372036854775808",
            "-0.0",
            "true",
            "[1]",
            "{}",
        ] {
            assert!(serde_json::from_str::<Id>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn display_tells_strings_from_integers() {
        assert_eq!(Id::from(7).to_string(), "7");
        assert_eq!(Id::from("7\n").to_string(), r#""7\n""#);
    }
}
