//! An agent as a tool of other agents: an MCP server with the tools `codex` and `codex-reply`, over standard input and
//! output or streamable HTTP. It is an ordinary client of the app-server protocol.
//!
//! Names, parameters, results, events and elicitations are those of `codex mcp-server` 0.118; `docs/mcp-server.md`
//! lists what differs and why.

#![deny(missing_docs)]

mod approval;
mod arguments;
mod ask;
mod call;
mod event;
mod http;
mod item;
mod message;
mod permission;
mod question;
mod server_form;
mod session;
mod stdio;
mod stream;
mod tools;

pub use http::{HttpOptions, ListenError, listen};
pub use stdio::serve;
