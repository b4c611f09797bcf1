//! May this command run, ask, or not: parsing, known-safe list, rules, approval table.

pub mod actions;
pub mod bash;
pub mod command_line;
