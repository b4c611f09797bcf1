//! Signals that ask a run to stop. The first one is heard; the second ends the process as if nobody had
//! listened.

use tokio::signal::unix::{Signal, SignalKind, signal};

pub struct Stops {
    signals: Vec<(i32, Signal)>,
    /// The signal that asked first.
    pub received: Option<i32>,
}

impl Stops {
    pub fn new() -> Stops {
        let kinds = [SignalKind::interrupt(), SignalKind::terminate()];
        let signals = kinds.map(|kind| Some((kind.as_raw_value(), signal(kind).ok()?)));
        Stops {
            signals: signals.into_iter().flatten().collect(),
            received: None,
        }
    }

    /// Waits for the first request to stop.
    pub async fn next(&mut self) {
        let waiting = self.signals.iter_mut().map(|(number, signal)| {
            Box::pin(async move {
                signal.recv().await;
                *number
            })
        });
        let waiting: Vec<_> = waiting.collect();
        if waiting.is_empty() {
            return std::future::pending().await;
        }
        let (signal, ..) = futures_util::future::select_all(waiting).await;
        if self.received.replace(signal).is_some() {
            die_by(signal);
        }
    }
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
