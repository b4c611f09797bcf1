//! A typed async client for any server of this protocol: Quipu's or the official one, as a child
//! process, over a websocket or a unix socket, or in the same process.
//!
//! ```no_run
//! use quipu_client::{Client, Options, prompt, wire::ThreadStartParams};
//!
//! # async fn hello() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::connect(Options::spawn("quipu").client("my-tool", "1.0")).await?;
//! let thread = client.start_thread(ThreadStartParams::default()).await?;
//! let done = client.run_turn(prompt(&thread.id, "What does this project do?")).await?;
//! println!("{}", done.agent_message);
//! client.disconnect().await;
//! # Ok(())
//! # }
//! ```
//!
//! - Every method of the protocol is a method of [`Client`], typed by the same table that the server is
//!   made from.
//! - [`Client::events`], [`Client::thread_events`] and [`Client::turn_events`] are bounded streams of
//!   typed [`Event`]s.
//! - A [`Handler`] answers the server's questions; what it does not answer gets a safe default.
//! - [`Client::run_turn`] and [`Client::run_review`] run to the end; [`Client::stream_turn`] also shows
//!   the way.
//! - [`Reconnecting`] connects again when a connection breaks, and goes on without a gap or a repetition.
//! - The end of a server reaches everyone who waits as one [`Cause`].
//!
//! `docs/client.md` is the guide, `examples/` has programs to start from.

#![deny(missing_docs)]

mod call;
mod child;
mod client;
mod dispatch;
mod error;
mod event;
mod family;
mod feed;
mod handler;
mod hub;
mod lenient;
mod link;
mod named;
mod observe;
mod options;
mod questions;
mod reconnect;
mod record;
mod retry;
mod scope;
mod transport;
mod turn;
mod version;
mod watch;

pub use call::Call;
pub use client::{Client, ServerInfo};
pub use error::{Cause, ConnectError, Error, Result, ServerExit, TurnLimit};
pub use event::{Event, Lagged, LateAnswer};
pub use feed::EventStream;
pub use handler::Handler;
pub use observe::Received;
pub use options::{Connect, Options, Timeouts, TurnLimits};
pub use quipu_rpc::{Connection, ErrorObject};
pub use quipu_wire as wire;
pub use reconnect::{Arrival, EventNumber, Reconnecting, Reconnection};
pub use retry::Retry;
pub use turn::{CompletedReview, CompletedTurn, TurnStream, prompt};
pub use version::Version;
