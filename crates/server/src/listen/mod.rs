//! Where clients come from: standard input and output, a websocket port, a unix socket, or nowhere.

mod accept;
mod admission;
mod auth;
mod http;
#[cfg(unix)]
mod inherited;
#[cfg(not(unix))]
#[path = "no_inherited.rs"]
mod inherited;
mod serve;
mod slots;
mod stdio;
mod stop;
mod tls;
#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
#[path = "no_unix.rs"]
mod unix;
mod websocket;

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

pub use admission::{Admission, Origin};
pub use auth::{AuthError, WebSocketAuth};
pub use serve::run;
pub(crate) use slots::{Lost, Slot};
pub use tls::{Certificate, TlsError};

use quipu_rpc::site::Site;

use crate::budgets::MESSAGE_LIMIT;

/// What is said where there are no unix sockets.
const NO_UNIX: &str =
    "unix sockets are not supported on this system; use `stdio://` or `ws://127.0.0.1:PORT`";

/// A place to listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listen {
    Stdio,
    WebSocket(SocketAddr),
    /// A websocket listener with TLS.
    Secure(SocketAddr),
    /// An empty path stands for a socket that the program chooses.
    Unix(PathBuf),
    Off,
}

impl FromStr for Listen {
    type Err = String;

    fn from_str(url: &str) -> Result<Listen, String> {
        for (scheme, listen) in [
            ("ws://", Listen::WebSocket as fn(SocketAddr) -> Listen),
            ("wss://", Listen::Secure),
        ] {
            if let Some(address) = url.strip_prefix(scheme) {
                let address = address_of(address).ok_or_else(|| {
                    format!("invalid websocket --listen URL `{url}`; expected `{scheme}IP:PORT`")
                })?;
                return Ok(listen(address));
            }
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

impl Listen {
    /// Whether its clients speak HTTP and websocket.
    #[must_use]
    pub fn is_websocket(&self) -> bool {
        matches!(self, Listen::WebSocket(_) | Listen::Secure(_))
    }
}

/// An address and a port. No name is looked up; the one that always means this machine is known.
fn address_of(text: &str) -> Option<SocketAddr> {
    match text.strip_prefix("localhost:") {
        Some(port) => Some((Ipv4Addr::LOCALHOST, port.parse().ok()?).into()),
        None => text.parse().ok(),
    }
}

/// Who may connect to websocket listeners, and what they find there.
pub struct Entrance {
    pub admission: Admission,
    /// Pages that they also serve.
    pub site: Option<Arc<dyn Site>>,
    /// What [`Listen::Secure`] needs.
    pub certificate: Option<Certificate>,
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
    #[error("wss://{0} needs a certificate: give `--tls-cert PATH` and `--tls-key PATH`")]
    NoCertificate(SocketAddr),
    #[error(
        "the service manager passed a socket that nothing listens on: {0}; name it with `--listen`, exactly as the \
         socket unit does"
    )]
    NotListenedOn(String),
}

/// Where clients can connect. `Display` gives the URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listening {
    WebSocket(SocketAddr),
    Secure(SocketAddr),
    Unix(PathBuf),
}

impl fmt::Display for Listening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Listening::WebSocket(address) => write!(f, "ws://{address}"),
            Listening::Secure(address) => write!(f, "wss://{address}"),
            Listening::Unix(path) => write!(f, "unix://{}", path.display()),
        }
    }
}
