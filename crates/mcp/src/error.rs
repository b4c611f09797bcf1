//! What can go wrong with a server. The texts are part of what clients and models see.

use std::fmt;
use std::time::Duration;

use serde_json::value::RawValue;

use crate::compact::compact;

/// Why a request of ours has no result.
#[derive(Debug)]
pub enum Error {
    /// The server answered with an error.
    Rpc {
        /// The number it gave.
        code: i64,
        /// Its words.
        message: String,
        /// What it added.
        data: Option<Box<RawValue>>,
    },
    /// The connection ended; the text, if any, says why we ended it.
    Closed(Option<&'static str>),
    /// No answer in time.
    TimedOut {
        /// What was asked.
        method: &'static str,
        /// How long was waited.
        limit: Duration,
    },
    /// The server wants a login.
    Unauthorized,
    /// The server forgot the session; a new one must be begun.
    SessionGone,
    /// The request or the answer was not carried.
    Http(String),
    /// The answer is not what the protocol says.
    BadAnswer {
        /// What was asked.
        method: &'static str,
        /// What is wrong.
        why: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Rpc {
                code,
                message,
                data,
            } => {
                write!(f, "Mcp error: {code}: {message}")?;
                match data {
                    Some(data) => write!(f, "({})", compact(data.get())),
                    None => Ok(()),
                }
            }
            Error::Closed(None) => f.write_str("Transport closed"),
            Error::Closed(Some(why)) => write!(f, "Transport closed: {why}"),
            Error::TimedOut { method, limit } => {
                write!(f, "timed out awaiting {method} after {limit:?}")
            }
            Error::Unauthorized => f.write_str("the server requires a login"),
            Error::SessionGone => f.write_str("the server ended the session"),
            Error::Http(why) => f.write_str(why),
            Error::BadAnswer { method, why } => {
                write!(f, "the answer to {method} cannot be read: {why}")
            }
        }
    }
}

impl std::error::Error for Error {}

/// Why a server is not usable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// The name in the configuration.
    #[error("Invalid MCP server name '{0}': must match pattern ^[a-zA-Z0-9_-]+$")]
    Name(String),
    /// The program was not started.
    #[error("{0}")]
    Spawn(String),
    /// The variable with the token.
    #[error("Environment variable {variable} for MCP server '{server}' is {problem}")]
    Token {
        /// Its name.
        variable: String,
        /// Whose it is.
        server: String,
        /// `not set` or `empty`.
        problem: &'static str,
    },
    /// The address, a header or a certificate.
    #[error("{0}")]
    Settings(String),
    /// The server and we did not come together.
    #[error("handshaking with MCP server failed: {0}")]
    Handshake(String),
    /// The server was too slow.
    #[error("timed out handshaking with MCP server after {0:?}")]
    TimedOut(Duration),
    /// The server wants a login.
    #[error("not logged in")]
    NotLoggedIn,
}

impl StartError {
    pub(crate) fn handshake(error: Error) -> StartError {
        match error {
            Error::Unauthorized => StartError::NotLoggedIn,
            Error::Closed(None) => {
                StartError::Handshake("connection closed: initialize response".to_owned())
            }
            Error::Rpc { code, message, .. } => {
                StartError::Handshake(format!("JSON-RPC error: {code}: {message}"))
            }
            error => StartError::Handshake(error.to_string()),
        }
    }

    /// What the user is told about the server of this name.
    #[must_use]
    pub fn message(&self, server: &str) -> String {
        match self {
            StartError::NotLoggedIn => {
                format!("The {server} MCP server is not logged in. Run `quipu mcp login {server}`.")
            }
            StartError::TimedOut(limit) => format!(
                "MCP client for `{server}` timed out after {} seconds. Add or adjust \
                 `startup_timeout_sec` in your config.toml:\n[mcp_servers.{server}]\nstartup_timeout_sec = XX",
                limit.as_secs()
            ),
            error => {
                format!("MCP client for `{server}` failed to start: MCP startup failed: {error}")
            }
        }
    }
}
