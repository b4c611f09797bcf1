//! Logs go to standard error, chosen by `RUST_LOG`; `LOG_FORMAT=json` makes them JSON lines.

use std::io::{IsTerminal as _, stderr};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

/// Starts logging for the whole process.
pub fn start() {
    let filter = EnvFilter::builder()
        .with_default_directive(LevelFilter::ERROR.into())
        .from_env_lossy();
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(stderr);
    let json =
        std::env::var("LOG_FORMAT").is_ok_and(|format| format.trim().eq_ignore_ascii_case("json"));
    if json {
        builder.json().init();
    } else {
        builder.with_ansi(stderr().is_terminal()).init();
    }
}
