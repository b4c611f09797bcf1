//! What can go wrong, as types: a program decides by them, a person reads their texts.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use quipu_rpc::{CloseReason, ErrorObject, websocket};
use quipu_wire::TurnError;

use crate::{CompletedTurn, Version};

/// The result of anything that a connected client does.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call or a turn has no result.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server answered with an error.
    #[error("`{method}` was refused: {error}")]
    Refused {
        /// What was asked.
        method: &'static str,
        /// The server's answer.
        error: ErrorObject,
    },
    /// The answer did not come in time. The request was sent and may still take effect; its answer,
    /// if one comes, is reported as [`Event::LateAnswer`](crate::Event::LateAnswer).
    #[error("`{method}` was not answered within {limit:?}; it may still take effect")]
    TimedOut {
        /// What was asked.
        method: &'static str,
        /// How long the client waited.
        limit: Duration,
    },
    /// The connection has ended; every call that waited has the same cause.
    #[error("{0}")]
    Closed(Cause),
    /// So much waits to be written that the server seems not to read. Nothing was sent.
    #[error("`{method}` was not sent: too much waits to be written to the server")]
    Full {
        /// What was to be asked.
        method: &'static str,
    },
    /// The params cannot be written as JSON. Nothing was sent.
    #[error("`{method}` was not sent: its params cannot be written as JSON: {error}")]
    Unencodable {
        /// What was to be asked.
        method: &'static str,
        /// What the encoder says.
        error: String,
    },
    /// The server's answer does not have the shape that this version expects.
    #[error("the answer to `{method}` cannot be read: {error}")]
    Unreadable {
        /// What was asked.
        method: &'static str,
        /// What the decoder says.
        error: String,
    },
    /// The turn ended as failed.
    #[error("the turn failed: {}", error.message)]
    TurnFailed {
        /// The server's error.
        error: TurnError,
        /// What the turn did before it failed.
        outcome: Box<CompletedTurn>,
    },
    /// The turn took too long and was interrupted.
    #[error("the turn was interrupted: {limit}")]
    TurnTimedOut {
        /// The limit that it exceeded.
        limit: TurnLimit,
        /// What the turn did until then. Its status is still `inProgress` if the server did not
        /// confirm the interrupt.
        outcome: Box<CompletedTurn>,
    },
}

impl Error {
    /// The code of the server's answer, if it answered with an error.
    #[must_use]
    pub fn code(&self) -> Option<i64> {
        match self {
            Error::Refused { error, .. } => Some(error.code),
            _ => None,
        }
    }
}

/// A limit on the time of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TurnLimit {
    /// Nothing was heard of it for this long, and no question of it waited for an answer.
    #[error("nothing was heard of it for {0:?}")]
    Silence(Duration),
    /// It took longer than this in all.
    #[error("it took longer than {0:?}")]
    Total(Duration),
}

/// Why a connection ended. All that waited on it get the same cause.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// This client disconnected, or its last clone was dropped.
    #[error("this client has disconnected")]
    Disconnected,
    /// The server closed the connection.
    #[error("the server closed the connection")]
    ServerClosed,
    /// The server was a child process of this client and has exited.
    #[error("{0}")]
    ServerExited(Arc<ServerExit>),
    /// The transport failed.
    #[error("the connection failed: {0}")]
    Failed(CloseReason),
}

/// How a server that was started by this client ended.
#[derive(Debug, thiserror::Error)]
#[error("the server exited ({status}){}", said(stderr))]
pub struct ServerExit {
    /// The exit code or signal.
    pub status: ExitStatus,
    /// The end of what it wrote to standard error, at most 8 KiB.
    pub stderr: String,
}

fn said(stderr: &str) -> String {
    match stderr.trim() {
        "" => " and wrote nothing to standard error".to_owned(),
        text => format!("; standard error ends with:\n{text}"),
    }
}

/// Why a client could not connect.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The server's program could not be started.
    #[error("cannot start `{}`: {source}; give the path of a server with `Options::spawn`", program.display())]
    Spawn {
        /// The program.
        program: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The unix socket could not be opened.
    #[error("cannot connect to the unix socket {}: {source}", path.display())]
    Unix {
        /// The socket's path.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The websocket could not be opened.
    #[error(transparent)]
    WebSocket(#[from] websocket::ConnectError),
    /// The server did not accept the client.
    #[error("the handshake failed: {error}")]
    Handshake {
        /// What went wrong.
        error: Error,
        /// The end of what a server that was started had written to standard error by then, at most 8 KiB.
        stderr: String,
    },
    /// The server is older than the client needs.
    #[error("the server has version {found}, but {minimum} or newer is needed")]
    TooOld {
        /// The server's version.
        found: Version,
        /// What [`Options::minimum_version`](crate::Options::minimum_version) says.
        minimum: Version,
    },
    /// The server does not number events, which [`Reconnecting`](crate::Reconnecting) needs.
    #[error("the server does not number events; only Quipu does")]
    NoNumbers,
    /// The server did not say its version where this protocol has it.
    #[error("no version can be read from the server's name `{user_agent}`")]
    NoVersion {
        /// What the server says of itself.
        user_agent: String,
    },
}

impl From<Error> for ConnectError {
    fn from(error: Error) -> ConnectError {
        let stderr = String::new();
        ConnectError::Handshake { error, stderr }
    }
}
