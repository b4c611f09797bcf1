//! Signals of unix systems.

use tokio::signal::unix::{SignalKind, signal};

pub use tokio::signal::unix::Signal;

/// The signals that can be listened for, with their numbers.
pub fn signals() -> Vec<(i32, Signal)> {
    let kinds = [SignalKind::interrupt(), SignalKind::terminate()];
    let signals = kinds.map(|kind| Some((kind.as_raw_value(), signal(kind).ok()?)));
    signals.into_iter().flatten().collect()
}

/// Ends this process by a signal, which tells its parent more than an exit code.
pub fn die_by(signal: i32) -> ! {
    // SAFETY: both calls only change how this process treats a signal, and it ends here.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
    std::process::exit(128 + signal);
}
