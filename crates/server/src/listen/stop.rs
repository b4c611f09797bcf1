//! Signals: the first lets what is running finish for a while, commands shorter than turns, and then ends
//! it; the second ends everything at once.

use std::future;
use std::process::exit;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::sleep;

use crate::Server;

/// How long commands may go on after a signal: nothing is to be left of them within a second. Turns may
/// still tell what became of them.
const COMMANDS: Duration = Duration::from_millis(500);

/// The signals that ask this process to stop. From its making on they no longer kill.
pub(super) struct StopSignals {
    terminate: Option<Signal>,
    interrupt: Option<Signal>,
}

impl StopSignals {
    pub fn listen() -> StopSignals {
        StopSignals {
            terminate: heard(SignalKind::terminate()),
            interrupt: heard(SignalKind::interrupt()),
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
        let rush = async {
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
        tokio::select! {
            () = arrived(&mut self.terminate) => {}
            () = arrived(&mut self.interrupt) => {}
        }
    }
}

fn heard(kind: SignalKind) -> Option<Signal> {
    match signal(kind) {
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
