//! What a tool returned, as a history holds it: a text, or a list of texts and images.

use quipu_wire::{FunctionCallOutputContentItem, Json};
use serde::{Deserialize, Serialize};

/// The output of a call.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ToolOutput {
    #[serde(rename = "type")]
    kind: OutputKind,
    /// The call that it answers.
    pub(crate) call_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// What was returned.
    #[serde(rename = "output")]
    pub(crate) body: OutputBody,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OutputKind {
    FunctionCallOutput,
    CustomToolCallOutput,
}

/// What a tool returned.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum OutputBody {
    Text(String),
    Parts(Vec<FunctionCallOutputContentItem>),
}

impl<'de> Deserialize<'de> for OutputBody {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        let body = if json.get().starts_with('[') {
            json.parse().map(Self::Parts)
        } else {
            json.parse().map(Self::Text)
        };
        body.map_err(serde::de::Error::custom)
    }
}

impl ToolOutput {
    /// Reads an item; `None` if it is anything else.
    pub(crate) fn read(item: &str) -> Option<Self> {
        serde_json::from_str(item).ok()
    }

    /// The item.
    pub(crate) fn to_json(&self) -> Json {
        Json::new(self).unwrap_or_default()
    }

    /// All that it says, with a word for each image.
    pub(crate) fn into_text(self) -> String {
        match self.body {
            OutputBody::Text(text) => text,
            OutputBody::Parts(parts) => parts
                .into_iter()
                .map(|part| match part {
                    FunctionCallOutputContentItem::InputText { text } => text,
                    _ => "(an image)".to_owned(),
                })
                .collect(),
        }
    }
}
