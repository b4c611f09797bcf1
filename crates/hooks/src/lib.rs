//! Hooks: commands of the user at fixed points of a turn.
//!
//! This crate reads `hooks.json` files ([`Hooks::load`]), says which handlers an event has
//! ([`Hooks::matching`]), what each is given on stdin ([`Call::to_json`]) and what it decided
//! ([`decide`]). It starts no process and knows no turn.

mod call;
mod decision;
mod file;
mod handler;
mod matcher;

pub use call::{Call, Event};
pub use decision::{Decision, Ended, decide};
pub use file::Problem;
pub use handler::{Handler, Hooks};
