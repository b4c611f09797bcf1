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

pub use json::json_schemas;
pub use reference::reference;
pub use typescript::typescript;
pub use typescript_client::typescript_client;

/// Generated files by their path below the output directory.
pub type Files = BTreeMap<String, String>;

/// Which part of the protocol to publish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surface {
    /// Without experimental methods and fields.
    Stable,
    /// Everything.
    Experimental,
}
