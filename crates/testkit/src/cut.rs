//! Connections that break at a known place.

use quipu_rpc::{Connection, Incoming, Limits};

/// What waits on the way.
const LIMITS: Limits = Limits {
    messages: 1024,
    bytes: 16 << 20,
};

/// A connection that passes this many messages, of both sides together, and then breaks.
pub fn after(messages: usize, server: Connection) -> Connection {
    let (ours, theirs) = Connection::pair(LIMITS);
    tokio::spawn(async move {
        let (mut client, mut server) = (theirs, server);
        for _ in 0..messages {
            let (message, writer) = tokio::select! {
                message = client.reader.next() => (message, &mut server.writer),
                message = server.reader.next() => (message, &mut client.writer),
            };
            let Ok(Some(Incoming::Message(message))) = message else {
                return;
            };
            if writer.write([message]).await.is_err() {
                return;
            }
        }
    });
    ours
}
