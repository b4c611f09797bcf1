//! JSON-RPC-lite mechanics for any vocabulary: framing, ids, pending maps, connections.
//!
//! This crate knows no method name. A message is read from a [`Reader`] as bytes, becomes a
//! [`Frame`] in one pass whose params and results stay raw slices of those bytes, and leaves
//! through an [`Outbox`], which bounds what a slow reader can make us hold. [`Calls`] and
//! [`Responder`] keep the law that every request has exactly one answer, in either direction.
//! [`Peer`] puts the parts together for the side that owns one connection.
//!
//! Everything here is bounded by a limit that the caller sets, and no input can make it panic.

mod close;
mod connection;
mod error;
mod frame;
pub mod http;
mod id;
mod intake;
mod lines;
mod outbox;
mod peer;
mod pending;
mod queue;
mod raw;
mod responder;
pub mod site;
#[cfg(unix)]
mod stdio;
#[cfg(not(unix))]
#[path = "stdio_portable.rs"]
mod stdio;
mod text_stream;
pub mod tls;
pub mod websocket;
pub mod write;

pub use close::{CloseCode, CloseReason};
pub use connection::{Connection, Incoming, ReadError, Reader, Writer};
pub use error::{ErrorObject, codes};
pub use frame::{Answer, Frame, FrameError, Notification, Request};
pub use id::Id;
pub use intake::{Budget, Excess, Intake, Share};
pub use lines::{Line, Lines};
pub use outbox::{OnFull, Outbox, OutboxWriter, SendError};
pub use peer::{Call, Event, Inbox, IncomingRequest, Peer, PeerOptions};
pub use pending::{Arrival, CallError, Calls, Outcome, Waiter};
pub use queue::Limits;
pub use raw::{DecodeError, RawJson};
pub use responder::Responder;
