//! The websocket listener.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use quipu_rpc::site::Site;
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use super::http::Front;
use super::stop::StopSignals;
use super::{Admission, ListenError, Listening, WebSocketAuth, accept, http};
use crate::Server;
use crate::peer::{Guest, Peer};

/// Connections that the kernel keeps until they are accepted.
const BACKLOG: u32 = 1024;

/// Serves clients of a port until the server stops.
pub(super) async fn run(
    server: Arc<Server>,
    address: SocketAddr,
    admission: Admission,
    site: Option<Arc<dyn Site>>,
    announce: impl FnOnce(&Listening),
) -> Result<(), ListenError> {
    if !address.ip().is_loopback() && admission.auth == WebSocketAuth::None {
        return Err(ListenError::OpenToTheNetwork(address));
    }
    let signals = StopSignals::listen();
    let bind_error = |source| ListenError::Bind {
        place: format!("ws://{address}"),
        source,
    };
    let listener = bind(address).map_err(bind_error)?;
    let address = listener.local_addr().map_err(bind_error)?;
    announce(&Listening::WebSocket(address));
    let front = Arc::new(Front { admission, site });
    let greet = |stream, guest| greet(Arc::clone(&server), stream, guest, Arc::clone(&front));
    let next = async || {
        let (stream, address) = listener.accept().await?;
        Ok((stream, Peer::Tcp(address)))
    };
    accept::run(&server, signals, next, greet).await;
    Ok(())
}

/// Accepted sockets inherit the keep-alive, which finds out about peers that vanished.
fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    socket.set_reuseaddr(true)?;
    socket.set_keepalive(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

async fn greet(server: Arc<Server>, stream: TcpStream, guest: Guest, front: Arc<Front>) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "failed to set TCP_NODELAY");
    }
    http::greet(server, stream, guest, &front).await;
}
