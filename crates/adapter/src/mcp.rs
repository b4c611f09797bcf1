//! MCP servers that the agent may use beside the prompt's own tools.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

/// An MCP server that the app-server starts or connects to.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum McpServer {
    /// A program that speaks over its standard input and output.
    Command {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables of its environment.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        env: BTreeMap<String, String>,
    },
    /// A server that speaks over HTTP.
    Url {
        /// Its address.
        url: String,
    },
}

impl McpServer {
    /// A program.
    pub fn command<A: Into<String>>(
        command: impl Into<String>,
        args: impl IntoIterator<Item = A>,
    ) -> McpServer {
        McpServer::Command {
            command: command.into(),
            args: args.into_iter().map(Into::into).collect(),
            env: BTreeMap::new(),
        }
    }

    /// An address.
    pub fn url(url: impl Into<String>) -> McpServer {
        McpServer::Url { url: url.into() }
    }

    /// Sets a variable in the environment of a program.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> McpServer {
        if let McpServer::Command { env, .. } = &mut self {
            env.insert(name.into(), value.into());
        }
        self
    }
}

/// Arguments, environment and address may hold secrets and are not shown.
impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            McpServer::Command { command, .. } => f.debug_tuple("Command").field(command).finish(),
            McpServer::Url { .. } => f.write_str("Url(…)"),
        }
    }
}
