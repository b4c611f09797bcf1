//! The published forms of the protocol, made from the method table and the type descriptions:
//! JSON Schema, TypeScript, the generated part of the TypeScript client, and the reference page.
//!
//! Each generator returns file names with their contents; writing them is the caller's business.

mod example;
mod json;
mod json_printer;
mod reference;
mod roots;
mod typescript;
mod typescript_client;

use std::collections::BTreeMap;

use crate::describe::{Era, OpenName, Shape, Tagging, TypeDef};

pub use json::json_schemas;
pub use reference::reference;
pub use typescript::typescript;
pub use typescript_client::typescript_client;

/// The `since` of what only this project has. It is part of the union and of no published protocol.
const OWN: &str = "quipu";

/// Generated files by their path below the output directory.
pub type Files = BTreeMap<String, String>;

/// Which part of the protocol to publish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Surface {
    pub protocol: Protocol,
    /// Whether experimental methods and members are part of it.
    pub experimental: bool,
}

impl Surface {
    /// A protocol without its experimental methods and members.
    #[must_use]
    pub const fn stable(protocol: Protocol) -> Surface {
        Surface {
            protocol,
            experimental: false,
        }
    }

    /// A whole protocol.
    #[must_use]
    pub const fn whole(protocol: Protocol) -> Surface {
        Surface {
            protocol,
            experimental: true,
        }
    }
}

/// The generations of the protocol. A server speaks all of them at once; the published forms show one, or the union.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// The base: what has no `since`.
    V0_118,
    /// What has no `until` and is not only ours.
    V0_166,
    /// Everything.
    Union,
}

impl Protocol {
    /// Whether something is part of the generation.
    #[must_use]
    pub fn has(self, era: Era) -> bool {
        match self {
            Protocol::V0_118 => era.since.is_none(),
            Protocol::V0_166 => era.until.is_none() && era.since != Some(OWN),
            Protocol::Union => true,
        }
    }

    /// Whether the generation accepts any text as a value of the type, and what it calls such a type.
    fn opens(self, def: &TypeDef) -> Option<OpenName> {
        match def.shape {
            Shape::Enum(Tagging::Open(name), _) if self != Protocol::V0_118 => Some(name),
            _ => None,
        }
    }
}
