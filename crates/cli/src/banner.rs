//! What services say once they listen. People and tools read the addresses from a few lines of text;
//! where the log is JSON, so is this.

use std::io::{IsTerminal as _, stderr};

use quipu_server::Listening;

use crate::logging;
use crate::version::ProgramName;

/// The module whose log lines are written at every level.
pub const TARGET: &str = module_path!();

/// Says where a service is: in these words, or as a line of the JSON log.
pub fn say(words: &str, address: &str) {
    match logging::is_json() {
        true => tracing::info!(target: TARGET, address, "listening"),
        false => eprintln!("{words} {address}"),
    }
}

pub fn show(place: &Listening, has_page: bool) {
    if logging::is_json() {
        tracing::info!(target: TARGET, address = %place, "listening");
        return;
    }
    let program = match ProgramName::of_this_process() {
        ProgramName::Quipu => "quipu",
        ProgramName::Codex | ProgramName::CodexAppServer => "codex",
    };
    let kind = match place {
        Listening::WebSocket(_) => "WebSockets",
        Listening::Secure(_) => "WebSockets, TLS",
        Listening::Unix(_) => "unix socket",
    };
    let (bold, plain) = match stderr().is_terminal() {
        true => ("\x1b[1m", "\x1b[0m"),
        false => ("", ""),
    };
    eprintln!("{bold}{program} app-server ({kind}){plain}\n  listening on: {place}");
    let http = match place {
        Listening::WebSocket(address) => Some(("http", address)),
        Listening::Secure(address) => Some(("https", address)),
        Listening::Unix(_) => None,
    };
    if let Some((http, address)) = http {
        let note = match address.ip().is_loopback() {
            true => "binds localhost only (use SSH port-forwarding for remote access)",
            false => "every client must present its credential as `Authorization: Bearer TOKEN`",
        };
        if has_page {
            eprintln!("  console: {http}://{address}/");
        }
        eprintln!(
            "  readyz: {http}://{address}/readyz\n  healthz: {http}://{address}/healthz\n  note: {note}"
        );
    }
}
