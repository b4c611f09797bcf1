//! How the server names itself to providers and clients.

use std::fmt::Write as _;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::settings::PROTOCOL_VERSION;

/// Overrides the name taken from the first client.
const OVERRIDE: &str = "CODEX_INTERNAL_ORIGINATOR_OVERRIDE";

/// The process-wide identity: the first client gives the originator, the latest the suffix.
#[derive(Default)]
pub(crate) struct Identity {
    originator: OnceLock<String>,
    latest: Mutex<String>,
}

impl Identity {
    /// Notes a client and returns the user agent from then on.
    pub fn introduce(&self, name: &str, version: &str) -> String {
        self.originator
            .get_or_init(|| match std::env::var(OVERRIDE) {
                Ok(name) if !name.is_empty() => name,
                _ => name.to_owned(),
            });
        let suffix = format!("{name}; {version}");
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = suffix;
        self.user_agent()
    }

    /// The name of the program that drives this process.
    pub fn originator(&self) -> &str {
        self.originator.get().map_or("quipu", String::as_str)
    }

    /// `<originator>/<version> (<os> <os version>; <arch>) <terminal> (<client>; <client version>)`
    pub fn user_agent(&self) -> String {
        static PLATFORM: OnceLock<String> = OnceLock::new();
        let platform = PLATFORM.get_or_init(platform);
        let mut agent = format!("{}/{PROTOCOL_VERSION} {platform}", self.originator());
        let latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if !latest.is_empty() {
            // Writing to a string cannot fail.
            write!(agent, " ({latest})").ok();
        }
        agent
            .chars()
            .map(|c| if (' '..='~').contains(&c) { c } else { '_' })
            .collect()
    }
}

fn platform() -> String {
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let value = |key: &str| {
        let line = release.lines().find_map(|line| line.strip_prefix(key));
        line.map(|value| value.trim_matches('"').to_owned())
    };
    let os = match value("ID=").as_deref() {
        Some("debian") => "Debian".to_owned(),
        Some("ubuntu") => "Ubuntu".to_owned(),
        Some(_) => value("NAME=").unwrap_or_else(|| "Linux".to_owned()),
        None => std::env::consts::OS.to_owned(),
    };
    let version = value("VERSION_ID=").unwrap_or_else(|| "0".to_owned());
    let dots = version.matches('.').count();
    let version = version + &".0".repeat(2_usize.saturating_sub(dots));
    format!(
        "({os} {version}; {}) {}",
        std::env::consts::ARCH,
        terminal()
    )
}

/// The program around this process, as far as its environment tells.
fn terminal() -> String {
    let var = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    match (var("TERM_PROGRAM"), var("TERM_PROGRAM_VERSION")) {
        (Some(program), Some(version)) => format!("{program}/{version}"),
        (Some(program), None) => program,
        (None, _) => var("TERM").unwrap_or_else(|| "unknown".to_owned()),
    }
}
