//! Opening the way to a server.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use quipu_rpc::{Connection, websocket};

use crate::ConnectError;
use crate::child::{self, Server};
use crate::observe::Observe;
use crate::options::Transport;

/// The longest message that is read, as servers have it.
pub(crate) const MESSAGE_LIMIT: usize = 256 << 20;

impl Transport {
    /// Connects, or starts the server.
    pub async fn open(
        self,
        limit: Duration,
        observer: &Arc<dyn Observe>,
    ) -> Result<(Connection, Option<Server>), ConnectError> {
        match self {
            Transport::Connection(connection) => Ok((connection, None)),
            Transport::Spawn(spawn) => match child::start(&spawn, observer) {
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
            Transport::Unix(path) => match connect(&path).await {
                Ok(connection) => Ok((connection, None)),
                Err(source) => Err(ConnectError::Unix { path, source }),
            },
        }
    }
}

#[cfg(unix)]
async fn connect(socket: &Path) -> io::Result<Connection> {
    let stream = tokio::net::UnixStream::connect(socket).await?;
    Ok(Connection::unix(stream, MESSAGE_LIMIT))
}

#[cfg(not(unix))]
async fn connect(_: &Path) -> io::Result<Connection> {
    let why = "there are no unix sockets on this system; connect to a websocket";
    Err(io::Error::new(io::ErrorKind::Unsupported, why))
}
