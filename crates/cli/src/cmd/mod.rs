//! One file per subcommand.

mod account;
pub mod app_server;
mod generate;
pub mod login;
pub mod logout;
pub mod sandbox;
pub mod threads;
