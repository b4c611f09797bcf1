//! Why and how a connection ends: one vocabulary for queues, calls and peers.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::connection::ReadError;

/// Why a connection ended. Everybody who waited on the connection gets the same reason.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CloseReason {
    /// This side closed it.
    #[error("the connection was closed by this side")]
    Local,
    /// The other side closed it: end of input, or a websocket close.
    #[error("the connection was closed by the other side")]
    Remote,
    /// The other side does not read what we send.
    #[error("the other side does not read: the queue of outgoing messages is full")]
    Overflow,
    /// The owner of this side does not take incoming messages while its own calls wait for
    /// answers that stand behind them.
    #[error("incoming messages were not taken for {0:?} while calls waited for their answers")]
    Stalled(Duration),
    /// Reading failed.
    #[error("{0}")]
    Read(Arc<ReadError>),
    /// Writing failed.
    #[error("writing to the connection failed: {0}")]
    Write(Arc<io::Error>),
}

/// The status code of a websocket close frame. Line transports have none and just end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloseCode(pub u16);

impl CloseCode {
    /// All is done.
    pub const NORMAL: Self = Self(1000);
    /// The server shuts down or the client leaves.
    pub const GOING_AWAY: Self = Self(1001);
    /// The message breaks the receiver's rules.
    pub const POLICY: Self = Self(1008);
    /// The message is over the receiver's limit.
    pub const TOO_BIG: Self = Self(1009);
    /// The server failed.
    pub const INTERNAL: Self = Self(1011);
    /// There is no room now; the client may come again later.
    pub const TRY_AGAIN: Self = Self(1013);
}
