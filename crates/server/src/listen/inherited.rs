//! Sockets that a service manager opened for this process (`LISTEN_FDS`, as systemd passes them). They outlive it, so
//! clients that connect while one process follows another wait instead of being refused.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use quipu_config::Env;

use super::ListenError;

/// The first descriptor that is passed.
const FIRST: RawFd = 3;

/// Descriptors are taken once: after that, their numbers may be those of other files.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The sockets that nothing listens on yet.
#[derive(Default)]
pub(super) struct Inherited(Vec<Socket>);

enum Socket {
    Tcp(TcpListener, SocketAddr),
    Unix(UnixListener, PathBuf),
    /// Neither, or closed.
    Unknown(RawFd),
}

impl Inherited {
    /// What the environment says was passed to this very process. Commands do not inherit it.
    pub fn take(env: &Env) -> Inherited {
        let number = |name| env.get(name).and_then(|it| it.parse::<u32>().ok());
        let is_ours = number("LISTEN_PID") == Some(std::process::id());
        let count = number("LISTEN_FDS").filter(|_| is_ours).unwrap_or(0);
        if count == 0 || TAKEN.swap(true, Ordering::Relaxed) {
            return Inherited::default();
        }
        let descriptors = (FIRST..).take(usize::try_from(count).unwrap_or(0));
        Inherited(descriptors.map(Socket::of).collect())
    }

    /// The socket with this address.
    pub fn tcp(&mut self, wanted: SocketAddr) -> Option<TcpListener> {
        let is_it = |socket: &Socket| matches!(socket, Socket::Tcp(_, it) if *it == wanted);
        match self.remove(is_it)? {
            Socket::Tcp(socket, _) => Some(socket),
            _ => None,
        }
    }

    /// The socket at this path.
    pub fn unix(&mut self, wanted: &Path) -> Option<UnixListener> {
        let whole = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let is_it =
            |socket: &Socket| matches!(socket, Socket::Unix(_, it) if whole(it) == whole(wanted));
        match self.remove(is_it)? {
            Socket::Unix(socket, _) => Some(socket),
            _ => None,
        }
    }

    fn remove(&mut self, is_it: impl FnMut(&Socket) -> bool) -> Option<Socket> {
        let index = self.0.iter().position(is_it)?;
        Some(self.0.swap_remove(index))
    }

    /// Fails if a socket is left: its clients would wait for ever.
    pub fn finish(self) -> Result<(), ListenError> {
        match self.0.first() {
            None => Ok(()),
            Some(socket) => Err(ListenError::NotListenedOn(socket.name())),
        }
    }
}

impl Socket {
    fn of(number: RawFd) -> Socket {
        let Ok(descriptor) = own(number) else {
            return Socket::Unknown(number);
        };
        let socket = UnixListener::from(descriptor);
        if let Ok(address) = socket.local_addr() {
            return match address.as_pathname() {
                Some(path) => {
                    let path = path.to_owned();
                    Socket::Unix(socket, path)
                }
                None => Socket::Unknown(number),
            };
        }
        let socket = TcpListener::from(OwnedFd::from(socket));
        match socket.local_addr() {
            Ok(address) => Socket::Tcp(socket, address),
            Err(_) => Socket::Unknown(number),
        }
    }

    fn name(&self) -> String {
        match self {
            Socket::Tcp(_, address) => format!("ws://{address}"),
            Socket::Unix(_, path) => format!("unix://{}", path.display()),
            Socket::Unknown(number) => format!("file descriptor {number}, which is no such socket"),
        }
    }
}

/// Takes a descriptor, which from now on is closed in children.
fn own(number: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: the call takes numbers only, and fails for a descriptor that is not open.
    if unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) } == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it is open, as the call above has shown, and the environment says that it was passed to this process to
    // be taken; that happens once.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}
