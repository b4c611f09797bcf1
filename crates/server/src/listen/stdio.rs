//! The client that started this process, on standard input and output. When it is gone there is no
//! reason to run on.

use std::sync::Arc;
use std::time::Duration;

use quipu_rpc::{Connection, OnFull};

use super::MESSAGE_LIMIT;
use super::stop::StopSignals;
use crate::Server;
use crate::connection::Session;

/// How long running turns may go on after a signal. Shorter than for a service: whoever started this
/// process waits for its end, often for five seconds.
const DRAIN: Duration = Duration::from_secs(3);

/// Serves until standard input ends or a signal stops the server.
pub(super) async fn run(server: Arc<Server>) {
    let signals = StopSignals::listen();
    let connection = Connection::stdio(MESSAGE_LIMIT);
    let mut session = Session::open(Arc::clone(&server), connection, OnFull::Wait);
    let drain = DRAIN.min(server.settings.drain);
    tokio::select! {
        () = session.read() => {}
        () = signals.drained(&server, drain) => {}
    }
    server.interrupt().await;
    session.close().await;
}
