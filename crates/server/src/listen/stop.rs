//! Signals: the first to stop lets what is running finish for a while, commands shorter than turns, and then ends
//! it; the second ends everything at once. The one to reload lets turns finish, however long they take.

use std::future;
use std::io;
use std::process::exit;
use std::time::Duration;

use tokio::time::sleep;

use crate::Server;
use crate::platform::{self, Signal};

/// How long commands may go on after a signal: nothing is to be left of them within a second. Turns may
/// still tell what became of them.
const COMMANDS: Duration = Duration::from_millis(500);

/// The signals that ask this process to stop. From its making on they no longer kill.
pub(super) struct StopSignals {
    signals: [Option<Signal>; 2],
}

impl StopSignals {
    pub fn listen() -> StopSignals {
        StopSignals {
            signals: platform::stop_signals().map(heard),
        }
    }

    /// Waits for a signal and then for what is running, at most for `limit`. A second signal ends the
    /// process meanwhile and at any time after.
    pub async fn drained(mut self, server: &Server, limit: Duration) {
        self.next().await;
        tracing::info!("received shutdown signal; waiting for running turns");
        tokio::spawn(async move {
            self.next().await;
            tracing::info!("received second shutdown signal; exiting at once");
            exit(0);
        });
        let hands_over = server.hands_over();
        let rush = async {
            if hands_over {
                // A step that ends within the limit need not be repeated elsewhere.
                future::pending::<()>().await;
            }
            sleep(COMMANDS).await;
            quipu_sandbox::end_all();
            future::pending().await
        };
        tokio::select! {
            () = server.drain(limit) => {}
            () = rush => {}
        }
    }

    async fn next(&mut self) {
        let [one, other] = &mut self.signals;
        tokio::select! {
            () = arrived(one) => {}
            () = arrived(other) => {}
        }
    }
}

/// The signal that asks for a new process: a service manager starts one when this one has ended.
pub(super) struct ReloadSignal(Option<Signal>);

impl ReloadSignal {
    /// From its making on the signal no longer kills.
    pub fn listen() -> ReloadSignal {
        ReloadSignal(platform::reload_signal().and_then(heard))
    }

    /// One that never comes, for a process whose client started it.
    pub fn never() -> ReloadSignal {
        ReloadSignal(None)
    }

    pub async fn next(&mut self) {
        arrived(&mut self.0).await;
    }
}

fn heard(signal: io::Result<Signal>) -> Option<Signal> {
    match signal {
        Ok(signal) => Some(signal),
        Err(error) => {
            tracing::error!(%error, "cannot wait for signals");
            None
        }
    }
}

async fn arrived(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => future::pending().await,
    }
}
