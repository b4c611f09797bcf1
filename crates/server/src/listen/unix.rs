//! A unix socket. Clients speak either lines of JSON or, starting with an HTTP upgrade, websocket frames;
//! the first byte tells.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quipu_rpc::Connection;
use tokio::io::AsyncReadExt as _;
use tokio::net::{UnixListener, UnixSocket, UnixStream};

use super::http::Front;
use super::inherited::Inherited;
use super::slots::Slots;
use super::{ListenError, Listening, MESSAGE_LIMIT, accept, http};
use crate::Server;
use crate::connection::serve_guest;
use crate::peer::{Guest, Peer};

/// Connections that the kernel keeps until they are accepted.
const BACKLOG: u32 = 1024;

/// A socket with clients.
pub(super) struct Unix {
    listener: UnixListener,
    path: PathBuf,
    /// Whether somebody else opened the socket and keeps it.
    is_inherited: bool,
}

impl Unix {
    /// Opens a socket that only its owner may use, or takes the one that this process was given for the path.
    pub fn open(path: &Path, inherited: &mut Inherited) -> Result<Unix, ListenError> {
        let given = inherited.unix(path);
        let is_inherited = given.is_some();
        let opened = match given {
            Some(socket) => socket
                .set_nonblocking(true)
                .and_then(|()| UnixListener::from_std(socket)),
            None => bind(path),
        };
        let listener = opened.map_err(|source| ListenError::Bind {
            place: format!("unix://{}", path.display()),
            source,
        })?;
        Ok(Unix {
            listener,
            path: path.to_owned(),
            is_inherited,
        })
    }

    pub fn place(&self) -> Listening {
        Listening::Unix(self.path.clone())
    }

    pub fn is_inherited(&self) -> bool {
        self.is_inherited
    }

    pub async fn run(&self, server: &Arc<Server>, slots: &Slots) {
        let greet = |stream, guest| greet(Arc::clone(server), stream, guest);
        let next = async || {
            let (stream, _) = self.listener.accept().await?;
            let peer = Peer::unix(&stream);
            Ok((stream, peer))
        };
        accept::run(slots, next, greet).await;
    }

    /// Removes the file of a socket that is our own.
    pub fn close(self) {
        if !self.is_inherited
            && let Err(error) = fs::remove_file(&self.path)
        {
            tracing::debug!(%error, "socket file already removed");
        }
    }
}

/// Binds, replacing a socket that no process listens on any more.
fn bind(path: &Path) -> io::Result<UnixListener> {
    let socket = private_socket()?;
    match socket.bind(path) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse && is_abandoned(path) => {
            fs::remove_file(path)?;
            socket.bind(path)?;
        }
        bound => bound?,
    }
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    socket.listen(BACKLOG)
}

/// A socket whose file is private from the moment it appears, where the system allows that.
fn private_socket() -> io::Result<UnixSocket> {
    let socket = UnixSocket::new_stream()?;
    let file = File::from(socket.as_fd().try_clone_to_owned()?);
    if let Err(error) = file.set_permissions(Permissions::from_mode(0o600)) {
        tracing::debug!(%error, "the socket is made private only after it is bound");
    }
    Ok(socket)
}

/// Whether the path is a socket without a listener. Other files also refuse connections, and stay.
fn is_abandoned(path: &Path) -> bool {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket());
    let connected = std::os::unix::net::UnixStream::connect(path);
    is_socket && connected.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

async fn greet(server: Arc<Server>, mut stream: UnixStream, guest: Guest) {
    let mut first = [0];
    let read = tokio::select! {
        read = stream.read(&mut first) => read,
        why = guest.slot.lost() => {
            return tracing::info!(peer = %guest.peer, reason = %why, "connection dropped");
        }
    };
    if !matches!(read, Ok(1)) {
        return;
    }
    let (reader, writer) = stream.into_split();
    let reader = io::Cursor::new(first.to_vec()).chain(reader);
    if first == *b"G" {
        let stream = tokio::io::join(reader, writer);
        return http::greet(server, stream, guest, &Front::PROGRAMS).await;
    }
    let connection = Connection::lines(reader, writer, MESSAGE_LIMIT);
    serve_guest(server, connection, guest).await;
}
