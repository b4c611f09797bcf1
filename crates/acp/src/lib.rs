//! An agent for editors (Zed, JetBrains, Neovim, Emacs) over the Agent Client Protocol. It is an ordinary client of the
//! app-server protocol: a session is a thread, a prompt is a turn.
//!
//! `docs/acp.md` says how to set up editors and what is mapped to what.

#![deny(missing_docs)]

mod account;
mod agent;
mod choices;
mod commands;
mod diff;
mod directory;
mod editor;
mod editor_tools;
mod elicitation;
mod error;
mod handler;
mod history;
mod input;
mod link;
mod permission;
mod schema;
mod serve;
mod session;
mod settings;
mod startup;
mod tool_call;
mod turn;
mod watch;

pub use serve::serve;
