//! Unattended sessions with an app-server ([`session`]), and a service that works through a tracker with
//! them ([`service`]).

pub mod config;
pub mod control;
pub mod env;
pub mod hook;
mod http;
mod leftovers;
pub mod orchestrator;
pub mod record;
pub mod service;
#[deny(missing_docs)]
pub mod session;
pub mod ssh;
pub mod store;
pub mod template;
pub mod time;
pub mod tracker;
mod worker;
pub mod workflow;
pub mod workspace;

pub use worker::first_prompt;
