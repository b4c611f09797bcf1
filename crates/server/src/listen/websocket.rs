//! The websocket listener, with or without TLS.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::{TcpListener, TcpSocket, TcpStream};

use super::http::Front;
use super::inherited::Inherited;
use super::slots::Slots;
use super::tls::Certificate;
use super::{ListenError, Listening, WebSocketAuth, accept, http};
use crate::Server;
use crate::peer::{Guest, Peer};

/// Connections that the kernel keeps until they are accepted.
const BACKLOG: u32 = 1024;

/// A port with clients.
pub(super) struct WebSocket {
    listener: TcpListener,
    place: Listening,
    front: Arc<Front>,
    certificate: Option<Arc<Certificate>>,
    is_inherited: bool,
}

impl WebSocket {
    /// Opens a port, or takes the one that this process was given for the address.
    pub fn open(
        address: SocketAddr,
        front: &Arc<Front>,
        certificate: Option<Arc<Certificate>>,
        inherited: &mut Inherited,
    ) -> Result<WebSocket, ListenError> {
        if !address.ip().is_loopback() && front.admission.auth == WebSocketAuth::None {
            return Err(ListenError::OpenToTheNetwork(address));
        }
        let place = |address| match certificate {
            Some(_) => Listening::Secure(address),
            None => Listening::WebSocket(address),
        };
        let bind_error = |source| ListenError::Bind {
            place: place(address).to_string(),
            source,
        };
        let given = inherited.tcp(address);
        let is_inherited = given.is_some();
        let opened = match given {
            Some(socket) => socket
                .set_nonblocking(true)
                .and_then(|()| TcpListener::from_std(socket)),
            None => bind(address),
        };
        let listener = opened.map_err(bind_error)?;
        let address = listener.local_addr().map_err(bind_error)?;
        Ok(WebSocket {
            listener,
            place: place(address),
            front: Arc::clone(front),
            certificate,
            is_inherited,
        })
    }

    pub fn place(&self) -> Listening {
        self.place.clone()
    }

    pub fn is_inherited(&self) -> bool {
        self.is_inherited
    }

    pub async fn run(&self, server: &Arc<Server>, slots: &Slots) {
        let greet = |stream, guest| {
            let front = Arc::clone(&self.front);
            greet(
                Arc::clone(server),
                stream,
                guest,
                front,
                self.certificate.clone(),
            )
        };
        let next = async || {
            let (stream, address) = self.listener.accept().await?;
            Ok((stream, Peer::Tcp(address)))
        };
        accept::run(slots, next, greet).await;
    }
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

async fn greet(
    server: Arc<Server>,
    stream: TcpStream,
    guest: Guest,
    front: Arc<Front>,
    certificate: Option<Arc<Certificate>>,
) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "failed to set TCP_NODELAY");
    }
    let Some(certificate) = certificate else {
        return http::greet(server, stream, guest, &front).await;
    };
    let secured = tokio::select! {
        secured = certificate.accept(stream) => secured,
        why = guest.slot.lost() => {
            return tracing::info!(peer = %guest.peer, reason = %why, "connection dropped");
        }
    };
    match secured {
        Ok(stream) => http::greet(server, stream, guest, &front).await,
        Err(error) => tracing::info!(peer = %guest.peer, %error, "TLS handshake failed"),
    }
}
