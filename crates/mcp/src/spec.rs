//! A server as the configuration describes it, with every variable already looked up.

use std::time::Duration;

use crate::error::StartError;
use crate::http::Endpoint;
use crate::stdio::Program;

/// How to reach a server and how to deal with it.
#[derive(Debug, Clone)]
pub struct ServerSpec {
    /// How it is reached.
    pub transport: Transport,
    /// Nothing goes without it.
    pub required: bool,
    /// How long it may take to start.
    pub startup_timeout: Duration,
    /// How long one call may take.
    pub tool_timeout: Duration,
    /// Only these tools are used.
    pub enabled_tools: Option<Vec<String>>,
    /// These tools are not used.
    pub disabled_tools: Vec<String>,
}

/// How a server is reached.
#[derive(Debug, Clone)]
pub enum Transport {
    /// A program that speaks over its standard streams.
    Stdio(Program),
    /// An address that speaks streamable HTTP.
    Http(Endpoint),
    /// It cannot be reached as configured.
    Unusable(StartError),
}

impl ServerSpec {
    pub(crate) fn uses(&self, tool: &str) -> bool {
        let named = |list: &[String]| list.iter().any(|it| it == tool);
        self.enabled_tools.as_deref().is_none_or(named) && !named(&self.disabled_tools)
    }
}
