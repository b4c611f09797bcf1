//! Where a client comes from, as logs name it.

use std::fmt;
use std::net::SocketAddr;

use crate::listen::Slot;

/// The other end of a connection.
#[derive(Debug, Clone)]
pub(crate) enum Peer {
    /// The program that started this process.
    Stdio,
    /// This process itself.
    InProcess,
    Tcp(SocketAddr),
    /// A process of this machine, if the system says which.
    Unix {
        uid: Option<u32>,
        pid: Option<i32>,
    },
}

impl Peer {
    #[cfg(unix)]
    pub fn unix(stream: &tokio::net::UnixStream) -> Peer {
        let process = stream.peer_cred().ok();
        Peer::Unix {
            uid: process.map(|it| it.uid()),
            pid: process.and_then(|it| it.pid()),
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Peer::Stdio => f.write_str("stdio"),
            Peer::InProcess => f.write_str("in-process"),
            Peer::Tcp(address) => address.fmt(f),
            Peer::Unix { uid, pid } => {
                f.write_str("unix")?;
                if let Some(uid) = uid {
                    write!(f, " uid {uid}")?;
                }
                pid.map_or(Ok(()), |pid| write!(f, " pid {pid}"))
            }
        }
    }
}

/// A client of a listener.
pub(crate) struct Guest {
    pub peer: Peer,
    /// The slot that it holds there.
    pub slot: Slot,
}
