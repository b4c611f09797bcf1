//! Signals: the first lets running turns finish for a while, then ends them; the second ends everything.

use std::process::exit;
use std::sync::Arc;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::Server;
use crate::shutdown::Stage;

/// Waits for a signal and for running turns to end, then returns with the server stopping.
pub(super) async fn on_signal(server: &Arc<Server>) {
    let mut signals = Signals::new();
    signals.next().await;
    tracing::info!("received shutdown signal; waiting for running turns");
    server.shutdown.advance(Stage::Draining);
    tokio::spawn(async move {
        signals.next().await;
        tracing::info!("received second shutdown signal; exiting at once");
        exit(0);
    });
    server.drain().await;
    server.shutdown.advance(Stage::Stopping);
    server.close().await;
}

struct Signals(Vec<Signal>);

impl Signals {
    fn new() -> Signals {
        let kinds = [SignalKind::terminate(), SignalKind::interrupt()];
        let signals = kinds.into_iter().filter_map(|kind| match signal(kind) {
            Ok(signal) => Some(signal),
            Err(error) => {
                tracing::error!(%error, "cannot wait for signals");
                None
            }
        });
        Signals(signals.collect())
    }

    async fn next(&mut self) {
        let waiting = self.0.iter_mut().map(|signal| Box::pin(signal.recv()));
        futures_util::future::select_all(waiting).await;
    }
}
