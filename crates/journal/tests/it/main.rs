//! Tests of threads at rest, through real files and processes.
#![allow(clippy::unwrap_used, reason = "tests")]

mod history;
mod support;
mod turns;
