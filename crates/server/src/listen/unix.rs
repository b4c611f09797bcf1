//! A unix socket. Clients speak either lines of JSON or, starting with an HTTP upgrade, websocket frames;
//! the first byte tells.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use quipu_rpc::http::{HeadLimits, HttpRequest};
use quipu_rpc::{Connection, OnFull};
use tokio::io::AsyncReadExt;
use tokio::net::{UnixListener, UnixStream};

use super::{ListenError, MESSAGE_LIMIT, stop};
use crate::{Server, serve};

/// Serves clients of a socket that only its owner may open.
pub(super) async fn run(server: Arc<Server>, path: &Path) -> Result<(), ListenError> {
    let bind_error = |source| ListenError::Bind {
        place: format!("unix://{}", path.display()),
        source,
    };
    let listener = bind(path).map_err(bind_error)?;
    let accepting = async {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    tokio::spawn(greet(Arc::clone(&server), stream));
                }
                Err(error) => tracing::error!(%error, "accepting a client failed"),
            }
        }
    };
    tokio::select! {
        () = accepting => {}
        () = stop::on_signal(&server) => {}
    }
    if let Err(error) = std::fs::remove_file(path) {
        tracing::debug!(%error, "the socket was gone already");
    }
    Ok(())
}

/// Binds, replacing a socket that no process listens on any more.
fn bind(path: &Path) -> io::Result<UnixListener> {
    let listener = match UnixListener::bind(path) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse && is_stale(path) => {
            std::fs::remove_file(path)?;
            UnixListener::bind(path)?
        }
        other => other?,
    };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

fn is_stale(path: &Path) -> bool {
    let refused = std::os::unix::net::UnixStream::connect(path);
    refused.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

async fn greet(server: Arc<Server>, mut stream: UnixStream) {
    let mut first = [0];
    if !matches!(stream.read(&mut first).await, Ok(1)) {
        return;
    }
    let (reader, writer) = stream.into_split();
    let reader = io::Cursor::new(first.to_vec()).chain(reader);
    if first != *b"G" {
        let connection = Connection::lines(reader, writer, MESSAGE_LIMIT);
        return serve(server, connection, OnFull::Disconnect).await;
    }
    let stream = tokio::io::join(reader, writer);
    match HttpRequest::read(stream, HeadLimits::default()).await {
        Ok(request) => match request.upgrade(MESSAGE_LIMIT).await {
            Ok(connection) => serve(server, connection, OnFull::Disconnect).await,
            Err(error) => tracing::debug!(%error, "a client did not become a websocket"),
        },
        Err(error) => tracing::debug!(%error, "a client sent no request"),
    }
}
