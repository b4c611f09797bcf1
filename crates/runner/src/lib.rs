//! Unattended sessions with an app-server ([`session`]), and a service that works through a tracker with
//! them.

pub mod config;
pub mod env;
pub mod hook;
pub mod leftovers;
pub mod orchestrator;
pub mod record;
#[deny(missing_docs)]
pub mod session;
pub mod ssh;
pub mod store;
pub mod template;
pub mod time;
pub mod tracker;
pub mod workflow;
pub mod workspace;
