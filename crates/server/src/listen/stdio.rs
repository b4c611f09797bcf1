//! The client that started this process, on standard input and output. When it is gone there is no
//! reason to run on.

use std::sync::Arc;
use std::time::Duration;

use quipu_rpc::{Connection, OnFull, Outbox};

use super::MESSAGE_LIMIT;
use crate::Server;
use crate::connection::Session;
use crate::peer::Peer;
use crate::platform::input_is_closed;

/// How long running turns may go on after a signal. Shorter than for a service: the program that started this
/// process waits for its end, often for five seconds.
pub(super) const DRAIN: Duration = Duration::from_secs(3);

/// How long a client that ended its input may take to read anything at all.
const ABANDONED: Duration = Duration::from_secs(2);

/// Starts to serve the client.
pub(super) fn open(server: &Arc<Server>) -> Session {
    let connection = Connection::stdio(MESSAGE_LIMIT);
    Session::open(Arc::clone(server), connection, OnFull::Wait, Peer::Stdio)
}

/// Serves until standard input ends, or nobody is left to read the answers.
pub(super) async fn read(session: &mut Session) {
    let outbox = session.outbox();
    tokio::select! {
        () = session.read() => {}
        () = abandoned(&outbox) => tracing::warn!("client closed its input and does not read; exiting"),
    }
}

/// Waits until the client has ended its input and reads nothing of what it is sent. While it does not
/// read, its input is not read either, so the end of it would never be met.
async fn abandoned(outbox: &Outbox) {
    loop {
        let written = outbox.written();
        tokio::time::sleep(ABANDONED).await;
        if !outbox.is_idle() && outbox.written() == written && input_is_closed() {
            return;
        }
    }
}
