//! What a server is started with.

use std::path::PathBuf;
use std::time::Duration;

/// The version of the protocol this server speaks; clients compare it with what they need.
pub const PROTOCOL_VERSION: &str = "0.118.0";

/// What the process knows before the first client connects.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The folder of all state.
    pub home: PathBuf,
    /// The folder relative paths are resolved against.
    pub cwd: PathBuf,
    /// `-c key=value` in the order given.
    pub overrides: Vec<(String, String)>,
    /// How long running turns may go on after the first signal to stop.
    pub drain: Duration,
}

impl Settings {
    /// Settings for a home, with defaults for the rest.
    #[must_use]
    pub fn new(home: PathBuf, cwd: PathBuf) -> Settings {
        Settings {
            home,
            cwd,
            overrides: Vec::new(),
            drain: Duration::from_secs(10),
        }
    }
}
