//! MCP servers, seen as a client: start, list, call, elicit, authorise.
//!
//! A [`Fleet`] holds the servers of one thread, started side by side; a [`Client`] is the connection to one
//! of them, over the standard streams of a program or over streamable HTTP. Whatever a server does (crash,
//! hang, flood, answer nonsense) costs only the calls made to it: every wait has a limit, every buffer too.
//!
//! Servers run with the rights of this program, outside any sandbox, because they are what the user
//! configured and not what a model wrote.

mod client;
mod compact;
mod error;
mod fleet;
mod http;
mod http_client;
mod link;
mod message;
mod names;
pub mod oauth;
mod session;
mod spec;
mod stdio;
mod types;

pub use client::{Client, ClientInfo, ToolCall};
pub use compact::compact;
pub use error::{Error, StartError};
pub use fleet::{Fleet, FleetEvent, NoClient, OfferedTool, Startup};
pub use http::{Endpoint, TokenSource};
pub use session::{CallEvent, Question};
pub use spec::{Connector, ServerSpec, ToolOffer, ToolRules, Transport};
pub use stdio::Program;
pub use types::{CallResult, Elicitation, Hints, Listing, Page, Reaction, Tool};
