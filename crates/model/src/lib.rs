//! Model providers: streaming, retries, usage, errors, catalogue. The only crate that speaks HTTP
//! to models.
//!
//! A [`Client`] serves one provider. [`Client::stream`] takes a [`Request`], whose history is
//! Responses-shaped whatever the provider, and gives a [`ModelStream`] of [`ModelEvent`]s, the same
//! whatever the provider. The wire formats (`responses`, `chat`, `anthropic`) and the built-in
//! offline model are peers behind it.

mod answer;
mod anthropic;
mod built_in;
pub mod catalogue;
mod chat;
mod client;
mod conversation;
mod credentials;
mod decoder;
mod error;
mod event;
mod exchange;
mod failure;
mod format;
mod history;
mod http;
mod item;
mod offline;
mod provider;
mod rate_limits;
mod reach;
mod realtime;
mod refusal;
mod repair;
mod request;
mod responses;
mod retry;
pub mod schema;
pub mod script;
mod stream;
mod structured;
mod text;
mod tools;
mod usage;
mod usage_limit;
mod websocket;
mod window;

pub use answer::read_answer;
pub use built_in::{
    Access, BUILT_IN, BuiltIn, CLIENT_VERSION, Choice, NoModel, Usable, choose, known_keys,
    local_servers,
};
pub use catalogue::ModelList;
pub use client::Client;
pub use credentials::{CredentialSource, Credentials, CredentialsLost, Recovered, Secret, Secrets};
pub use error::{ErrorKind, ModelError, UnexpectedStatus};
pub use event::{Completed, ModelEvent, Opened, OutputError, OutputItem, Retrying};
pub use history::HistoryItem;
pub use http::http_client;
pub use item::ItemKind;
pub use offline::play;
pub use provider::{AuthCommand, OFFLINE, ProviderConfig, StructuredOutput, WireApi};
pub use reach::{Obstacle, Unreachable};
pub use realtime::{
    RealtimeAudio, RealtimeEvent, RealtimeInput, RealtimeSession, RealtimeSetup, RealtimeVersion,
};
pub use request::{Reasoning, Request, RequestMeta, ToolChoice, TurnState};
pub use responses::socket::SocketSlot;
pub use stream::ModelStream;
pub use tools::{Grammar, ToolSet, ToolSpec};
pub use usage::{Price, Usage};
pub use usage_limit::UsageLimit;
