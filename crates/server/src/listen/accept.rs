//! Taking in clients of a socket, no more than the server can hold.

use std::future::Future;
use std::io;
use std::time::Duration;

use super::slots::Slots;
use crate::peer::{Guest, Peer};

/// How long to wait after accepting failed, which it mostly does for want of file descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// Accepts and greets clients for ever.
pub(super) async fn run<S, G>(
    slots: &Slots,
    accept: impl AsyncFn() -> io::Result<(S, Peer)>,
    greet: impl Fn(S, Guest) -> G,
) where
    G: Future<Output = ()> + Send + 'static,
{
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
}
