//! One file per subcommand.

mod account;
pub mod app_server;
mod generate;
pub mod init;
pub mod login;
pub mod logout;
pub mod models;
pub mod print;
pub mod providers;
pub mod sandbox;
pub mod threads;
