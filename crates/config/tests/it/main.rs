//! Tests of the whole crate through its public interface, on real files.
//!
//! The `fixtures` say what the official server 0.118.0 answered for the same files and requests.
#![allow(clippy::unwrap_used, reason = "tests")]

mod agent_roles;
mod any_bytes;
mod edits;
mod readers;
mod reference;
mod reload;
mod scenarios;
mod settings;
mod types;
mod world;
