//! The 32 requirements of a session, each with a test; the numbers are those of docs/runner.md.

mod ends;
mod errors;
mod observing;
mod questions;
mod quipu;
mod start;
mod support;
mod tools;
mod transport;
