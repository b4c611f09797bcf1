//! A server as the configuration describes it, with every variable already looked up.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::error::StartError;
use crate::http::Endpoint;
use crate::stdio::Program;
use crate::types::Tool;

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
    /// The handshake says that the user can be asked. Other servers may ask as well.
    pub announces_elicitation: bool,
    /// What the owner makes of its tools; without it they are offered as they are.
    pub rules: Option<Arc<dyn ToolRules>>,
}

/// What the owner of a server makes of its tools.
pub trait ToolRules: fmt::Debug + Send + Sync {
    /// How a tool is offered to models; `None` if it is not.
    fn offer(&self, tool: &Tool) -> Option<ToolOffer>;
}

/// How a tool is offered to models.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolOffer {
    /// The last part of its name, instead of its own.
    pub name: Option<String>,
    /// What models read after its description.
    pub note: Option<String>,
    /// The app that it belongs to.
    pub connector: Option<Connector>,
}

/// An app that a server brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connector {
    /// Its id.
    pub id: String,
    /// Its name for people.
    pub name: Option<String>,
    /// What it is for.
    pub description: Option<String>,
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
    /// How a tool is offered; `None` if it is not.
    pub(crate) fn offer(&self, tool: &Tool) -> Option<ToolOffer> {
        let named = |list: &[String]| list.contains(&tool.name);
        let used = self.enabled_tools.as_deref().is_none_or(named) && !named(&self.disabled_tools);
        match &self.rules {
            _ if !used => None,
            Some(rules) => rules.offer(tool),
            None => Some(ToolOffer::default()),
        }
    }
}
