//! Where clients come from: standard input and output, a websocket port, a unix socket, or nowhere.

mod accept;
mod admission;
mod auth;
mod http;
mod slots;
mod stdio;
mod stop;
#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
#[path = "no_unix.rs"]
mod unix;
mod websocket;

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

pub use admission::{Admission, Origin};
pub use auth::{AuthError, WebSocketAuth};
pub(crate) use slots::{Lost, Slot};

use quipu_rpc::site::Site;

use crate::Server;
use crate::budgets::MESSAGE_LIMIT;

/// What is said where there are no unix sockets.
const NO_UNIX: &str =
    "unix sockets are not supported on this system; use `stdio://` or `ws://127.0.0.1:PORT`";

/// A place to listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listen {
    Stdio,
    WebSocket(SocketAddr),
    /// An empty path stands for a socket that the program chooses.
    Unix(PathBuf),
    Off,
}

impl FromStr for Listen {
    type Err = String;

    fn from_str(url: &str) -> Result<Listen, String> {
        if let Some(address) = url.strip_prefix("ws://") {
            let address = address.parse().map_err(|_| {
                format!("invalid websocket --listen URL `{url}`; expected `ws://IP:PORT`")
            })?;
            return Ok(Listen::WebSocket(address));
        }
        match url.strip_prefix("unix://") {
            Some(_) if !cfg!(unix) => Err(format!("unsupported --listen URL `{url}`; {NO_UNIX}")),
            Some(path) => Ok(Listen::Unix(path.into())),
            None => match url {
                "stdio://" => Ok(Listen::Stdio),
                "off" => Ok(Listen::Off),
                _ => Err(format!(
                    "unsupported --listen URL `{url}`; expected `stdio://`, `ws://IP:PORT`, `unix://PATH` or `off`"
                )),
            },
        }
    }
}

/// Why a listener could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    #[error("cannot listen on {place}: {source}")]
    Bind {
        place: String,
        source: std::io::Error,
    },
    #[error(
        "refusing to listen on {0} without authentication: anyone who can reach that address could run \
         commands as you. Give `--ws-auth capability-token --ws-token-file PATH` or `--ws-auth \
         signed-bearer-token --ws-shared-secret-file PATH`, or listen on a loopback address and forward \
         the port over SSH"
    )]
    OpenToTheNetwork(SocketAddr),
}

/// Where clients can connect. `Display` gives the URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listening {
    WebSocket(SocketAddr),
    Unix(PathBuf),
}

impl fmt::Display for Listening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Listening::WebSocket(address) => write!(f, "ws://{address}"),
            Listening::Unix(path) => write!(f, "unix://{}", path.display()),
        }
    }
}

/// Serves clients until standard input ends, or a signal or the server says stop. `announce` is called once
/// clients can connect. A websocket listener also serves the pages of `site`.
pub async fn run(
    server: Arc<Server>,
    listen: Listen,
    admission: Admission,
    site: Option<Arc<dyn Site>>,
    announce: impl FnOnce(&Listening),
) -> Result<(), ListenError> {
    // Boxed, because the compiler gives up on the size of so many futures within each other.
    match listen {
        Listen::Stdio => Box::pin(stdio::run(server)).await,
        Listen::WebSocket(address) => {
            Box::pin(websocket::run(server, address, admission, site, announce)).await?
        }
        Listen::Unix(path) => Box::pin(unix::run(server, &path, announce)).await?,
        Listen::Off => off(&server).await,
    }
    Ok(())
}

/// Serves nobody. Something else in this process may, or a supervisor wants it to wait.
async fn off(server: &Server) {
    let signals = stop::StopSignals::listen();
    tracing::info!("not listening (`off`); waiting for a signal");
    signals.drained(server, server.settings.drain).await;
    server.interrupt().await;
}
