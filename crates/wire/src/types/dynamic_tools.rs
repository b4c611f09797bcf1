//! The tools of a client as `thread/start` takes them: one by one, as 0.118 has it, or grouped in namespaces.

use serde::{Deserialize, Deserializer, Serialize};

use crate::describe::{Describe, Ty};
use crate::gate::Gated;
use crate::{DynamicToolSpec, Json};

/// A tool that a client brings, or several in a namespace.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum DynamicToolEntry {
    Tool(DynamicToolSpec),
    Namespace(DynamicToolNamespace),
}

/// Tools that belong together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "namespace")]
pub struct DynamicToolNamespace {
    pub name: String,
    /// What the tools are for.
    pub description: String,
    pub tools: Vec<DynamicToolSpec>,
}

/// The published schema of 0.118 has tools only.
impl Describe for DynamicToolEntry {
    const TY: Ty = DynamicToolSpec::TY;
}

impl Gated for DynamicToolEntry {}

impl From<DynamicToolSpec> for DynamicToolEntry {
    fn from(tool: DynamicToolSpec) -> Self {
        DynamicToolEntry::Tool(tool)
    }
}

impl<'de> Deserialize<'de> for DynamicToolEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;

        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        enum Tag {
            Function,
            Namespace,
        }

        #[derive(Deserialize)]
        struct Kind {
            r#type: Option<Tag>,
        }

        let entry = Json::deserialize(deserializer)?;
        let kind: Kind = entry.parse().map_err(D::Error::custom)?;
        let read = match kind.r#type {
            None | Some(Tag::Function) => entry.parse().map(DynamicToolEntry::Tool),
            Some(Tag::Namespace) => entry.parse().map(DynamicToolEntry::Namespace),
        };
        read.map_err(D::Error::custom)
    }
}
