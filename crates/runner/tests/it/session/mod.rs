//! The 32 requirements of a session, each with a test; the numbers are those of docs/runner.md.

mod ends;
mod errors;
mod observing;
mod official;
mod questions;
mod quipu;
mod start;
pub mod support;
mod tools;
mod transport;
