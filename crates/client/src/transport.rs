//! Opening the way to a server.

use std::time::Duration;

use quipu_rpc::{Connection, websocket};
use tokio::net::UnixStream;

use crate::ConnectError;
use crate::child::{self, Server};
use crate::options::Transport;

/// The longest message that is read, as servers have it.
pub(crate) const MESSAGE_LIMIT: usize = 256 << 20;

impl Transport {
    /// Connects, or starts the server.
    pub async fn open(self, limit: Duration) -> Result<(Connection, Option<Server>), ConnectError> {
        match self {
            Transport::Connection(connection) => Ok((connection, None)),
            Transport::Spawn(spawn) => match child::start(&spawn) {
                Ok((connection, server)) => Ok((connection, Some(server))),
                Err(source) => Err(ConnectError::Spawn {
                    program: spawn.program,
                    source,
                }),
            },
            Transport::WebSocket { url, token } => {
                let bearer = token.map(|token| format!("Bearer {token}"));
                let header = bearer.as_deref().map(|bearer| ("authorization", bearer));
                let headers: Vec<_> = header.into_iter().collect();
                let connection = websocket::connect(&url, &headers, MESSAGE_LIMIT, limit).await?;
                Ok((connection, None))
            }
            Transport::Unix(path) => match UnixStream::connect(&path).await {
                Ok(stream) => Ok((Connection::unix(stream, MESSAGE_LIMIT), None)),
                Err(source) => Err(ConnectError::Unix { path, source }),
            },
        }
    }
}
