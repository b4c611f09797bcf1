//! Logins as files, clients and identity servers see them.
#![allow(clippy::unwrap_used, reason = "tests")]

mod browser;
mod device;
mod files;
mod refresh;
mod support;
mod usage;
