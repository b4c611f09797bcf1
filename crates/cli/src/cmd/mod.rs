//! One file per subcommand.

pub mod app_server;
mod generate;
