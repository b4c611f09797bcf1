//! Signals that ask a run to stop. The first one is heard; the second ends the process as if nobody had
//! listened.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub use system::die_by;
use system::{Signal, signals};

pub struct Stops {
    signals: Vec<(i32, Signal)>,
    /// The signal that asked first.
    pub received: Option<i32>,
}

impl Stops {
    pub fn new() -> Stops {
        Stops {
            signals: signals(),
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
