//! The app-server: connections, router, lanes, handlers, thread actors, effects, outbox.
//!
//! The way of a request: `connection` reads a frame; answers to our own questions go
//! straight to the tasks that wait for them, requests go to the `router`, which decodes, gates and hands them
//! to their lane; a file in `handlers` does the work and answers through a `Reply`.
//! This crate is the only one that knows both the wire and the engine, and it decides little itself.

mod accounts;
mod agents;
mod analytics;
mod announce;
mod apps;
mod blocking;
mod budgets;
mod chatgpt;
mod clock;
mod cloud;
mod commands;
mod config_directories;
mod connection;
#[allow(
    dead_code,
    reason = "texts for apps and sub-agents wait for the tools that use them"
)]
mod cx;
mod dynamic_tools;
mod emit;
mod fail;
mod feedback;
mod files;
mod git;
mod git_command;
mod goals;
mod handlers;
mod history;
mod hub;
mod identity;
mod lanes;
mod listen;
mod mcp;
mod metrics;
mod models;
mod models_cache;
mod nodes;
mod once;
mod paging;
mod peer;
mod platform;
mod plugins;
mod providers;
mod questions;
mod read_states;
mod refusal;
mod room;
mod router;
mod rules;
mod samples;
mod search;
mod sections;
mod server;
mod settings;
mod skills;
mod startup_warnings;
mod store;
mod telemetry;
mod telemetry_variables;
mod text_search;
mod threads;
mod unsupported;
mod windows;
mod words;

pub use cloud::CloudTiming;
pub use commands::{ManagedCommand, configured_command};
pub use connection::serve;
pub use listen::{
    Admission, AuthError, Certificate, Entrance, Listen, ListenError, Listening, Origin, TlsError,
    WebSocketAuth, run,
};
pub use quipu_journal::Source;
pub use quipu_prompt::image::check_image;
pub use server::Server;
pub use settings::{PROTOCOL_VERSION, Programs, Settings, announced_version};
pub use store::{Storage, open_storage};

pub(crate) use config_directories::config_directories;
pub(crate) use cx::{Cx, Reply};
pub(crate) use refusal::Refusal;
