//! What Windows has instead of signals: a key of the console.

use tokio::signal::windows::{CtrlC, ctrl_c};

pub type Signal = CtrlC;

/// The number that the key has elsewhere.
const INTERRUPT: i32 = 2;

/// What can be listened for, with a number.
pub fn signals() -> Vec<(i32, Signal)> {
    let key = ctrl_c().ok().map(|key| (INTERRUPT, key));
    key.into_iter().collect()
}

/// Ends this process with the exit code that shells show for a signal.
pub fn die_by(signal: i32) -> ! {
    std::process::exit(128 + signal);
}
