//! One piece of history as it is sent: raw JSON, looked at once when it enters and then only
//! copied. What the look finds (kind, call id, maker, size) is all that repairing a history and
//! estimating its size need.

use std::sync::Arc;

use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::item::ItemKind;
use crate::text::Text;

/// Bytes that stand for an inlined image in size estimates.
const IMAGE_BYTES: usize = 7_373;
const BYTES_PER_TOKEN: usize = 4;

/// A Responses-shaped item of a conversation. Cheap to clone.
///
/// An item that only its maker can read (encrypted reasoning, a compaction) carries the maker's
/// provider id in the extra field `maker`: it is kept in the stored JSON, never sent, and the item
/// goes back to that provider alone.
#[derive(Debug, Clone)]
pub struct HistoryItem(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    raw: Arc<RawValue>,
    kind: ItemKind,
    call_id: Option<String>,
    name: Option<String>,
    maker: Option<String>,
    id: Option<String>,
    has_image: bool,
    is_by_user: bool,
    estimated_tokens: u64,
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    role: Option<Text<'a>>,
    #[serde(borrow)]
    call_id: Option<Text<'a>>,
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    maker: Option<Text<'a>>,
    #[serde(borrow)]
    encrypted_content: Option<Text<'a>>,
}

impl HistoryItem {
    /// Takes in one item as stored. JSON that is no item becomes [`ItemKind::Other`], which is
    /// never sent.
    pub fn new(raw: impl Into<Arc<RawValue>>) -> Self {
        Self::with_id(raw, None)
    }

    /// The same, with the id that the provider gave the item, for providers that want it back.
    pub fn with_id(raw: impl Into<Arc<RawValue>>, id: Option<String>) -> Self {
        let raw = raw.into();
        let Ok(head) = serde_json::from_str::<Head<'_>>(raw.get()) else {
            return Self::of_kind(raw, ItemKind::Other);
        };
        let kind = match &head.kind {
            Some(name) => ItemKind::from_type(name),
            None if head.role.is_some() => ItemKind::Message,
            None => ItemKind::Other,
        };
        let owned = |text: &Option<Text<'_>>| text.as_ref().map(|text| text.0.to_string());
        let maker = owned(&head.maker);
        let bytes = match (&head.encrypted_content, kind) {
            (Some(secret), ItemKind::Reasoning | ItemKind::Compaction) => {
                (secret.len() * 3 / 4).saturating_sub(650)
            }
            _ => bytes_without_images(raw.get()),
        };
        let inner = Inner {
            kind,
            call_id: owned(&head.call_id),
            name: owned(&head.name),
            is_by_user: kind == ItemKind::Message
                && head.role.as_ref().is_some_and(|it| it.0 != "assistant"),
            has_image: memmem::find(raw.get().as_bytes(), b"\"input_image\"").is_some(),
            estimated_tokens: bytes.div_ceil(BYTES_PER_TOKEN) as u64,
            raw: if maker.is_some() {
                without_maker(&raw)
            } else {
                raw
            },
            maker,
            id: id.filter(|id| !id.is_empty()),
        };
        Self(Arc::new(inner))
    }

    fn of_kind(raw: Arc<RawValue>, kind: ItemKind) -> Self {
        Self(Arc::new(Inner {
            raw,
            kind,
            call_id: None,
            name: None,
            maker: None,
            id: None,
            has_image: false,
            is_by_user: false,
            estimated_tokens: 0,
        }))
    }

    /// The item as a provider gets it.
    pub fn raw(&self) -> &RawValue {
        &self.0.raw
    }

    /// What sort of item it is.
    pub fn kind(&self) -> ItemKind {
        self.0.kind
    }

    /// The call that this item makes or answers.
    pub fn call_id(&self) -> Option<&str> {
        self.0.call_id.as_deref()
    }

    /// About how many tokens the item takes: four bytes each, with images and encrypted texts
    /// counted by what they stand for.
    pub fn estimated_tokens(&self) -> u64 {
        self.0.estimated_tokens
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.0.name.as_deref()
    }

    pub(crate) fn id(&self) -> Option<&str> {
        self.0.id.as_deref()
    }

    /// Whether it is a message that the model did not write.
    pub(crate) fn is_by_user(&self) -> bool {
        self.0.is_by_user
    }

    pub(crate) fn has_image(&self) -> bool {
        self.0.has_image
    }

    /// Whether a provider of that id may see the item. Items without a maker come from rollouts
    /// that do not tell; they are taken to be readable.
    pub(crate) fn readable_by(&self, provider: &str) -> bool {
        self.0
            .maker
            .as_deref()
            .is_none_or(|maker| maker == provider)
    }

    pub(crate) fn made_by(&self, provider: &str) -> bool {
        self.0.maker.as_deref() == Some(provider)
    }
}

fn bytes_without_images(json: &str) -> usize {
    let bytes = json.as_bytes();
    let mut total = bytes.len();
    for at in memmem::find_iter(bytes, b";base64,") {
        let payload = at + b";base64,".len();
        let length = memchr::memchr(b'"', &bytes[payload..]).unwrap_or(0);
        total = total - length + IMAGE_BYTES;
    }
    total
}

/// The same object without its `maker` field, everything else byte for byte.
fn without_maker(raw: &Arc<RawValue>) -> Arc<RawValue> {
    #[derive(Deserialize)]
    #[serde(transparent)]
    struct Fields<'a>(#[serde(borrow, with = "fields")] Vec<(Text<'a>, &'a RawValue)>);

    let Ok(Fields(fields)) = serde_json::from_str::<Fields<'_>>(raw.get()) else {
        return Arc::clone(raw);
    };
    let mut json = String::with_capacity(raw.get().len());
    for (name, value) in fields.iter().filter(|(name, _)| &**name != "maker") {
        json.push(if json.is_empty() { '{' } else { ',' });
        json.push_str(&serde_json::Value::from(&**name).to_string());
        json.push(':');
        json.push_str(value.get());
    }
    json.push('}');
    RawValue::from_string(json).map_or_else(|_| Arc::clone(raw), Arc::from)
}

/// An object as a list of its fields in order.
mod fields {
    use std::fmt;

    use serde::de::{Deserializer, MapAccess, Visitor};
    use serde_json::value::RawValue;

    use crate::text::Text;

    type Fields<'de> = Vec<(Text<'de>, &'de RawValue)>;

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Fields<'de>, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }

    struct FieldsVisitor;

    impl<'de> Visitor<'de> for FieldsVisitor {
        type Value = Fields<'de>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut fields = Vec::new();
            while let Some(field) = map.next_entry()? {
                fields.push(field);
            }
            Ok(fields)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(json: &str) -> HistoryItem {
        HistoryItem::new(RawValue::from_string(json.into()).unwrap())
    }

    #[test]
    fn a_makers_mark_is_read_and_not_sent() {
        let json =
            r#"{"type":"reasoning","summary":[],"encrypted_content":"e\n","maker":"anthropic"}"#;
        let ours = item(json);
        assert_eq!(
            ours.raw().get(),
            r#"{"type":"reasoning","summary":[],"encrypted_content":"e\n"}"#
        );
        assert!(ours.readable_by("anthropic") && !ours.readable_by("openai"));
        assert!(item(r#"{"type":"reasoning","summary":[]}"#).readable_by("openai"));
    }

    #[test]
    fn sizes_count_images_and_encrypted_text_by_what_they_stand_for() {
        assert_eq!(
            item(r#"{"type":"message","role":"user","content":[]}"#).estimated_tokens(),
            12
        );
        let picture = "A".repeat(1_000_000);
        let json = format!(
            r#"{{"type":"message","role":"user","content":[{{"type":"input_image","image_url":"data:image/png;base64,{picture}"}}]}}"#
        );
        let with_image = item(&json);
        assert!(with_image.has_image());
        assert_eq!(
            with_image.estimated_tokens(),
            ((json.len() - 1_000_000 + 7_373) as u64).div_ceil(4)
        );
        let secret = "e".repeat(4_000);
        let json = format!(r#"{{"type":"reasoning","summary":[],"encrypted_content":"{secret}"}}"#);
        assert_eq!(item(&json).estimated_tokens(), (3_000u64 - 650).div_ceil(4));
    }

    #[test]
    fn what_is_no_item_is_kept_out() {
        for json in ["null", "[1]", r#"{"type":7}"#, r#"{"type":"later"}"#, "{}"] {
            assert_eq!(item(json).kind(), ItemKind::Other, "{json}");
        }
        assert_eq!(
            item(r#"{"role":"user","content":"hi"}"#).kind(),
            ItemKind::Message
        );
    }
}
