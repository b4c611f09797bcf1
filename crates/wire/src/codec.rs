//! What the `#[wire]` code needs at run time to read and write values.
//!
//! Two readers share one set of types. A client must be able to read what a newer server sends, so by
//! default an unknown enum value or union variant becomes `Unrecognized`. A server must tell its caller
//! about a value it does not know, so it decodes under [`strict`].

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{
    self, DeserializeOwned, DeserializeSeed, EnumAccess, MapAccess, VariantAccess, Visitor,
};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::Word;

thread_local! {
    static STRICT: Cell<bool> = const { Cell::new(false) };
}

/// Runs `decode` with unknown enum values and union variants refused.
pub fn strict<T>(decode: impl FnOnce() -> T) -> T {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            STRICT.set(self.0);
        }
    }
    let _restore = Restore(STRICT.replace(true));
    decode()
}

/// Decodes the params of a request as a server does; the error is the text that follows
/// `Invalid request: ` on the wire.
pub fn decode_strictly<T: DeserializeOwned>(json: &str) -> Result<T, String> {
    strict(|| decode(json)).map_err(|error| without_position(&error))
}

/// What is decoded a second time for the sake of a better message.
const EXPLAINED: usize = 1024 * 1024;

/// Reads text. Under [`strict`] an error is worded as the reference words it, which reads trees: a
/// tree tells what was found, where text only tells that something else was expected.
fn decode<T: DeserializeOwned>(json: &str) -> Result<T, serde_json::Error> {
    let from_text = serde_json::from_str(json);
    if from_text.is_ok() || !STRICT.get() || json.len() > EXPLAINED {
        return from_text;
    }
    let tree = serde_json::from_str::<serde_json::Value>(json);
    tree.map_or(from_text, T::deserialize)
}

/// The message of a decoding error without the line and column that serde_json appends.
#[must_use]
pub fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&position)
        .map_or(text.clone(), str::to_owned)
}

pub(crate) fn nested<E: de::Error>(error: serde_json::Error) -> E {
    E::custom(without_position(&error))
}

pub(crate) fn refuse_if_strict<E: de::Error>(
    found: &str,
    known: &'static [&'static str],
) -> Result<(), E> {
    if STRICT.get() {
        Err(E::unknown_variant(found, known))
    } else {
        Ok(())
    }
}

/// A default given as JSON in a declaration. Tests decode every one.
pub(crate) fn literal<T: DeserializeOwned>(json: &'static str) -> T {
    match serde_json::from_str(json) {
        Ok(value) => value,
        Err(error) => unreachable!("a declared default does not fit its type: {json}: {error}"),
    }
}

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Tells a `null` from an absent field: present is always `Some`.
pub(crate) fn present<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}

pub(crate) fn raw<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<RawValue>, D::Error> {
    Box::<RawValue>::deserialize(deserializer)
}

pub(crate) fn from_raw<T: DeserializeOwned, E: de::Error>(raw: &RawValue) -> Result<T, E> {
    decode(raw.get()).map_err(nested)
}

/// The value as one variant of several, if it is that.
pub(crate) fn fitting<T: DeserializeOwned>(raw: &RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}

/// The part of an object that its named fields leave over.
pub(crate) trait Rest: Sized {
    fn read(json: &str, known: &[&str]) -> Result<Self, serde_json::Error>;
}

impl<T: DeserializeOwned> Rest for BTreeMap<String, T> {
    fn read(json: &str, known: &[&str]) -> Result<Self, serde_json::Error> {
        let all: BTreeMap<String, Box<RawValue>> = serde_json::from_str(json)?;
        let rest = all
            .into_iter()
            .filter(|(key, _)| !known.contains(&key.as_str()));
        rest.map(|(key, value)| Ok((key, serde_json::from_str(value.get())?)))
            .collect()
    }
}

impl Rest for crate::McpServerElicitationRequest {
    fn read(json: &str, _known: &[&str]) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json)
    }
}

/// The value of the tag member of an object.
pub(crate) fn tag<'a, E: de::Error>(
    raw: &'a RawValue,
    type_name: &str,
    tag: &'static str,
    alias: Option<&str>,
) -> Result<Cow<'a, str>, E> {
    let text = raw.get();
    if let Some(value) = leading_tag(text, tag) {
        return Ok(Cow::Borrowed(value));
    }
    if !text.starts_with('{') {
        return Err(E::custom(wrong_kind(
            text,
            &format!("internally tagged enum {type_name}"),
        )));
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let found = deserializer
        .deserialize_map(TagVisitor { tag, alias })
        .map_err(nested)?;
    found.ok_or_else(|| E::missing_field(tag))
}

/// The tag when it is the first member and holds no escape, which is how peers write it.
fn leading_tag<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let rest = text
        .strip_prefix('{')?
        .trim_ascii_start()
        .strip_prefix('"')?;
    let rest = rest
        .strip_prefix(tag)?
        .strip_prefix('"')?
        .trim_ascii_start()
        .strip_prefix(':')?;
    let value = rest.trim_ascii_start().strip_prefix('"')?;
    let end = value
        .bytes()
        .position(|byte| byte == b'"' || byte == b'\\')?;
    (value.as_bytes()[end] == b'"').then(|| &value[..end])
}

struct TagVisitor<'t> {
    tag: &'t str,
    alias: Option<&'t str>,
}

impl<'de> Visitor<'de> for TagVisitor<'_> {
    type Value = Option<Cow<'de, str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut found, mut aliased) = (None, None);
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            if key == self.tag {
                found = Some(Cow::Owned(map.next_value_seed(VariantName)?));
            } else if Some(&*key) == self.alias {
                aliased = Some(Cow::Owned(map.next_value_seed(VariantName)?));
            } else {
                map.next_value::<de::IgnoredAny>()?;
            }
        }
        Ok(found.or(aliased))
    }
}

/// The value of a tag; anything but a string is refused in serde's words.
struct VariantName;

impl<'de> DeserializeSeed<'de> for VariantName {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for VariantName {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("variant identifier")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<String, E> {
        Ok(name.to_owned())
    }
}

/// The name of an externally tagged value: the string itself or the only key.
pub(crate) fn outer_tag(raw: &RawValue) -> Option<String> {
    let text = raw.get();
    if text.starts_with('"') {
        return serde_json::from_str(text).ok();
    }
    let object: BTreeMap<String, de::IgnoredAny> = serde_json::from_str(text).ok()?;
    (object.len() == 1)
        .then(|| object.into_keys().next())
        .flatten()
}

/// serde's words for a value of the wrong kind.
fn wrong_kind(text: &str, expected: &str) -> String {
    struct Kind<'e>(&'e str);
    impl<'de> Visitor<'de> for Kind<'_> {
        type Value = ();
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }
    match serde_json::Deserializer::from_str(text).deserialize_any(Kind(expected)) {
        Ok(()) => format!("expected {expected}"),
        Err(error) => without_position(&error),
    }
}

/// Why a text is no word of an enum that keeps all words.
fn no_word<E: de::Error>(type_name: &str, found: &str) -> E {
    let mut name = String::new();
    for (place, letter) in type_name.char_indices() {
        if letter.is_ascii_uppercase() && place > 0 {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    match found.is_empty() {
        true => E::custom(format!("{name} must not be empty")),
        false => E::custom(format!("{name} must not exceed 48 bytes")),
    }
}

/// Reads an enum of plain strings.
pub(crate) fn string_enum<'de, D: Deserializer<'de>, T: Copy + 'static>(
    deserializer: D,
    type_name: &'static str,
    (names, base): (&'static [&'static str], &'static [&'static str]),
    values: &'static [T],
    aliases: &'static [(&'static str, T)],
    fallback: Fallback<T>,
) -> Result<T, D::Error> {
    deserializer.deserialize_enum(
        type_name,
        names,
        StringEnum {
            type_name,
            names,
            base,
            values,
            aliases,
            fallback,
        },
    )
}

struct StringEnum<T: 'static> {
    type_name: &'static str,
    names: &'static [&'static str],
    /// Those that messages name.
    base: &'static [&'static str],
    values: &'static [T],
    aliases: &'static [(&'static str, T)],
    fallback: Fallback<T>,
}

/// What becomes of a text that is none of an enum's words.
#[derive(Clone, Copy)]
pub(crate) enum Fallback<T> {
    /// It is refused.
    Refused,
    /// It is taken for this, or refused under strict decoding.
    Unrecognized(T),
    /// It is kept.
    Kept(fn(Word) -> T),
}

impl<'de, T: Copy> Visitor<'de> for StringEnum<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "enum {}", self.type_name)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<T, A::Error> {
        let (value, variant) = access.variant_seed(self)?;
        variant.unit_variant()?;
        Ok(value)
    }
}

impl<'de, T: Copy> DeserializeSeed<'de> for StringEnum<T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        struct Name<T: 'static>(StringEnum<T>);
        impl<T: Copy> Visitor<'_> for Name<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("variant identifier")
            }

            fn visit_str<E: de::Error>(self, found: &str) -> Result<T, E> {
                let StringEnum {
                    type_name,
                    names,
                    base,
                    values,
                    aliases,
                    fallback,
                } = self.0;
                if let Some(index) = names.iter().position(|name| *name == found) {
                    return Ok(values[index]);
                }
                if let Some((_, value)) = aliases.iter().find(|(alias, _)| *alias == found) {
                    return Ok(*value);
                }
                match fallback {
                    Fallback::Unrecognized(value) => refuse_if_strict(found, base).map(|()| value),
                    Fallback::Refused => Err(E::unknown_variant(found, base)),
                    Fallback::Kept(keep) => {
                        let word = Word::new(found).ok_or_else(|| no_word(type_name, found));
                        word.map(keep)
                    }
                }
            }
        }
        deserializer.deserialize_identifier(Name(self))
    }
}
