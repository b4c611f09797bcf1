//! An agent as a function: a typed prompt goes to a server of this protocol, tools run in the program's
//! own process, and a typed result comes back, within a deadline and a budget.
//!
//! ```no_run
//! use quipu_adapter::{Adapter, Prompt, Section, Server, Session};
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Summary {
//!     title: String,
//!     files: Vec<String>,
//! }
//!
//! # async fn hello() -> quipu_adapter::Result<()> {
//! let adapter = Adapter::new(Server::spawn("quipu"));
//! let prompt = Prompt::<Summary>::new("demo/summary")
//!     .section(Section::new("Task", "Summarise the structure of this repository."));
//! let response = adapter.evaluate(&prompt, &Session::new()).await?;
//! println!("{}: {} files", response.output.title, response.output.files.len());
//! # Ok(())
//! # }
//! ```
//!
//! - A [`Prompt`] has [`Section`]s, [`Tool`]s, a [`Workspace`] and the type of its output.
//! - An [`Adapter`] evaluates prompts on a [`Server`]: a process for each evaluation, or one for all.
//! - A [`Session`] remembers between evaluations; tools change it and [`Resources`] in transactions.
//! - A [`Budget`] limits tokens and money; [`Event`]s report what happens; an [`Error`] says in which
//!   [`Phase`] an evaluation failed and why.
//! - [`Adapter::evaluate_all`] compares prompts over a dataset.
//! - A [`Recording`] replays an evaluation without a model.
//!
//! `docs/adapter.md` is the guide, `examples/` has programs to start from.

#![deny(missing_docs)]

mod adapter;
mod auth;
mod bridge;
mod budget;
mod dataset;
mod digest;
mod error;
mod evaluation;
mod events;
mod limits;
mod live;
mod mcp;
mod open_sections;
mod prompt;
mod recording;
mod resources;
mod schema;
mod server;
mod session;
mod template;
mod thread_state;
mod tool;
mod toolbox;
mod visit;
mod workspace;

pub use adapter::{Adapter, Approvals, ModelSettings};
pub use auth::{Login, TokenSource, Tokens};
pub use bridge::Bridge;
pub use budget::{Budget, Money, MoneyError, Price, Prices, Spent, Usage};
pub use dataset::{
    Case, CaseReport, EvaluateAll, Failure, Progress, Report, Score, Summary, VariantReport,
};
pub use error::{Error, Expansion, Phase, Result};
pub use evaluation::{Evaluation, Place, Response};
pub use events::{Event, EventKind, SubscriberError, ToolInvoked, ToolOwner};
pub use mcp::McpServer;
pub use prompt::{Prompt, Rendered, Section};
pub use quipu_client as client;
pub use recording::{Recording, Step};
pub use resources::{Resource, ResourceError, Resources, Shared};
pub use schemars;
pub use server::Server;
pub use session::{Session, Slice, Snapshot};
pub use template::TemplateError;
pub use thread_state::ThreadState;
pub use tool::{Tool, ToolContext, ToolError, ToolOutput};
pub use workspace::{Mount, MountPreview, Workspace, WorkspaceBuilder, WorkspaceError};
