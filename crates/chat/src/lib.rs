//! A chat in the terminal: a conversation in the scrollback, approvals by one key, a few commands. It is an ordinary
//! client of the app-server protocol. `docs/chat.md` is the manual.
//!
//! `app` holds what is shown and decides what a key means; `run` connects it to a terminal and a server.

#![deny(missing_docs)]

mod app;
mod command;
mod complete;
mod diff;
mod edit;
mod form;
mod item;
mod keys;
mod markdown;
mod menu;
mod question;
mod run;
mod screen;
mod session;
mod style;
mod transcript;
mod wrap;

pub use run::{ChatOptions, run};
