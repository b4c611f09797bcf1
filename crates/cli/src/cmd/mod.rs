//! One file per subcommand.

mod account;
pub mod acp;
pub mod app_server;
pub mod chat;
pub mod completions;
pub mod config;
pub mod console;
mod generate;
pub mod init;
pub mod login;
pub mod logout;
pub mod mcp;
pub mod mcp_server;
pub mod models;
pub mod print;
pub mod providers;
mod proxy;
pub mod sandbox;
pub mod store;
pub mod trial;
pub mod usage;
