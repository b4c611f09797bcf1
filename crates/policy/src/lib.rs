//! May this command run, ask, or not: parsing, known-safe list, rules, approval table.
//!
//! Everything here is a pure function of what the caller knows, but for reading and amending rules
//! files. The way of one command: [`bash`] splits it, [`rules`] and the lists in [`safe`] and
//! [`dangerous`] judge its parts, [`commands`] turns that into an action, [`retry`] says what happens
//! when the sandbox was in the way. [`patches`], [`permissions`], [`hosts`] and [`mcp`] do the same
//! for the other things a model can ask for.

pub mod actions;
mod amendment;
pub mod bash;
pub mod command_line;
pub mod commands;
pub mod dangerous;
pub mod domains;
pub mod guardian;
pub mod hosts;
mod judge;
pub mod mcp;
pub mod narrowing;
pub mod patches;
mod paths;
pub mod permissions;
pub mod retry;
pub mod rules;
pub mod safe;
pub mod session;
pub mod settings;
pub mod texts;
pub mod writable;
