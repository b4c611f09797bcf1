//! Every byte on the socket: methods, params, results, notifications, items and errors, as data.
//!
//! The types are declared once, with [`macro@quipu_wire_macros::wire`]; JSON Schema, TypeScript and the
//! reference page are made from the same declarations. Nothing here behaves.

pub mod codec;
pub mod describe;
pub mod gate;
mod json;
pub mod method;
pub mod schema;
mod table;
mod types;
mod word;

pub use json::{Json, TooDeep};
pub use method::{ServerNotification, ServerRequest};
pub use types::*;
pub use word::Word;
