//! Taking in clients of a socket until the server stops, no more than it can hold.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::slots::Slots;
use super::stop::StopSignals;
use crate::Server;
use crate::peer::{Guest, Peer};

/// How long to wait after accepting failed, which it mostly does for want of file descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// Accepts and greets clients until a signal stops the server; then ends what is running and all
/// connections.
pub(super) async fn run<S, G>(
    server: &Arc<Server>,
    signals: StopSignals,
    accept: impl AsyncFn() -> io::Result<(S, Peer)>,
    greet: impl Fn(S, Guest) -> G,
) where
    G: Future<Output = ()> + Send + 'static,
{
    let slots = Slots::new(server.settings.handshake);
    let accepting = async {
        loop {
            match accept().await {
                Ok((stream, peer)) => match slots.take() {
                    Some(slot) => drop(tokio::spawn(greet(stream, Guest { peer, slot }))),
                    None => tracing::error!(%peer, "connection refused: too many clients"),
                },
                Err(error) => {
                    tracing::error!(%error, "failed to accept connection");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    };
    tokio::select! {
        () = accepting => {}
        () = signals.drained(server, server.settings.drain) => {}
    }
    server.interrupt().await;
    server.close().await;
}
