//! The HTTP interface: a page for people, JSON for programs, and a socket for operators. By hand, since what is needed
//! of HTTP is one request and one answer per connection.

mod page;
mod request;
mod routes;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::service::Handle;
use request::Request;
pub use routes::Response;

/// Connections at the same time; others wait.
const CONNECTIONS: usize = 32;
/// How long one connection may take.
const PATIENCE: Duration = Duration::from_secs(15);

/// Who is on the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Peer {
    /// Anybody on this machine, a browser or an agent among them: looks, and may ask for a poll.
    Anybody(SocketAddr),
    /// The user who runs the service.
    Owner,
}

/// Listens on the loopback interface; port 0 takes a free one.
pub async fn listen(port: u16, handle: Handle) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let address = listener.local_addr()?;
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    tokio::spawn(async move {
        loop {
            let accepted = listener.accept().await;
            let place = Arc::clone(&places).acquire_owned().await;
            let (Ok((stream, _)), Ok(place)) = (accepted, place) else {
                // Too many open files, say: some will be closed soon.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let handle = handle.clone();
            tokio::spawn(async move {
                serve(stream, Peer::Anybody(address), &handle).await;
                drop(place);
            });
        }
    });
    Ok(address)
}

/// Listens on a socket that only the owner of its directory can reach.
#[cfg(unix)]
pub fn listen_unix(path: &std::path::Path, handle: Handle) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = tokio::net::UnixListener::bind(path)?;
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    tokio::spawn(async move {
        loop {
            let accepted = listener.accept().await;
            let place = Arc::clone(&places).acquire_owned().await;
            let (Ok((stream, _)), Ok(place)) = (accepted, place) else {
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let handle = handle.clone();
            tokio::spawn(async move {
                serve(stream, Peer::Owner, &handle).await;
                drop(place);
            });
        }
    });
    Ok(())
}

async fn serve(mut stream: impl AsyncRead + AsyncWrite + Unpin, peer: Peer, handle: &Handle) {
    let exchange = async {
        let mut with_body = true;
        let response = match request::read(&mut stream).await {
            Ok(request) => {
                with_body = request.method != "HEAD";
                routes::answer(&request, peer, handle).await
            }
            Err(request::Unreadable::Gone) => return Ok(()),
            Err(request::Unreadable::Malformed(why)) => Response::error(400, "bad_request", why),
            Err(request::Unreadable::TooLong) => {
                Response::error(431, "too_long", "the request is too long")
            }
        };
        stream.write_all(&response.bytes(with_body)).await?;
        stream.shutdown().await
    };
    // A peer that is gone or too slow has no use for an answer.
    let done: Result<io::Result<()>, _> = tokio::time::timeout(PATIENCE, exchange).await;
    drop(done);
}

/// Whether the request comes from a page of this service, or from no page at all.
fn is_local(request: &Request, address: SocketAddr) -> bool {
    let ours = |authority: &str| {
        let port = address.port();
        ["127.0.0.1", "localhost", "[::1]"]
            .iter()
            .any(|host| authority == format!("{host}:{port}") || (port == 80 && authority == *host))
    };
    let host = request.header("host").is_some_and(ours);
    let origin = request.header("origin");
    host && origin.is_none_or(|it| it.strip_prefix("http://").is_some_and(ours))
}
