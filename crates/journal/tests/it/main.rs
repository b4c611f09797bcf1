//! Tests of threads at rest, through real files and processes.
#![allow(clippy::unwrap_used, reason = "tests")]

mod any_bytes;
mod beside;
mod damage;
mod faults;
mod history;
mod index;
mod list;
mod log;
mod newest;
mod pages;
mod paginated;
mod processes;
mod store;
mod support;
mod turns;
