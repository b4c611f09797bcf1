//! Taking in clients of a socket until the server stops, no more than it can hold.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

use super::stop::StopSignals;
use crate::Server;

/// Connections held at once; the next ones are closed unheard. Each costs a file descriptor, of which
/// a process often has no more than this.
const MAX_CONNECTIONS: usize = 1000;
/// How long to wait after accepting failed, which it mostly does for want of file descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// Accepts and greets clients until a signal stops the server; then ends what is running and all
/// connections.
pub(super) async fn run<S, G>(
    server: &Arc<Server>,
    signals: StopSignals,
    accept: impl AsyncFn() -> io::Result<S>,
    greet: impl Fn(S) -> G,
) where
    G: Future<Output = ()> + Send + 'static,
{
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let accepting = async {
        loop {
            match accept().await {
                Ok(stream) => {
                    let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
                        tracing::error!("a client was turned away: too many connections");
                        continue;
                    };
                    let greeting = greet(stream);
                    tokio::spawn(async move {
                        greeting.await;
                        drop(place);
                    });
                }
                Err(error) => {
                    tracing::error!(%error, "accepting a client failed");
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
