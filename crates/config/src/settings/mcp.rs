//! MCP servers from the files.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::providers::Secret;
use crate::requirements::{Limit, McpIdentity, Requirements};
use crate::snapshot::{Snapshot, View};

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpTransport {
    /// A program that speaks over its standard streams.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables set for it.
        env: BTreeMap<String, Secret>,
        /// Names of variables passed on to it.
        env_vars: Vec<String>,
        /// Directory it starts in; the server's when absent.
        cwd: Option<PathBuf>,
    },
    /// An address that speaks streamable HTTP.
    Http {
        /// The address.
        url: String,
        /// Variable that holds the token.
        bearer_token_env_var: Option<String>,
        /// Headers sent to it.
        http_headers: BTreeMap<String, Secret>,
        /// Headers by the name of the variable that holds the value.
        env_http_headers: BTreeMap<String, String>,
        /// Resource asked for when logging in.
        oauth_resource: Option<String>,
    },
}

/// Whether calls of a tool are asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum McpToolApproval {
    /// As the tool's own hints suggest.
    Auto,
    /// Always.
    Prompt,
    /// Never.
    Approve,
}

/// A server from `[mcp_servers.<name>]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    /// How it is reached.
    pub transport: McpTransport,
    /// Whether it is used.
    pub enabled: bool,
    /// It is off because the administrator's limits do not list it.
    pub forbidden: bool,
    /// Threads do not start when it fails.
    pub required: bool,
    /// How long it may take to start.
    pub startup_timeout: Duration,
    /// How long one call may take.
    pub tool_timeout: Duration,
    /// Only these tools are offered.
    pub enabled_tools: Option<Vec<String>>,
    /// These tools are not offered.
    pub disabled_tools: Vec<String>,
    /// Scopes asked for when logging in.
    pub scopes: Option<Vec<String>>,
    /// Approval of single tools by name.
    pub tools: BTreeMap<String, McpToolApproval>,
}

#[derive(Deserialize)]
struct ServerToml {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, Secret>,
    #[serde(default)]
    env_vars: Vec<String>,
    cwd: Option<PathBuf>,
    #[serde(default)]
    url: String,
    bearer_token_env_var: Option<String>,
    #[serde(default)]
    http_headers: BTreeMap<String, Secret>,
    #[serde(default)]
    env_http_headers: BTreeMap<String, String>,
    oauth_resource: Option<String>,
    scopes: Option<Vec<String>>,
    enabled: Option<bool>,
    #[serde(default)]
    required: bool,
    startup_timeout_sec: Option<f64>,
    startup_timeout_ms: Option<u64>,
    tool_timeout_sec: Option<f64>,
    enabled_tools: Option<Vec<String>>,
    #[serde(default)]
    disabled_tools: Vec<String>,
    #[serde(default)]
    tools: BTreeMap<String, ToolToml>,
}

#[derive(Deserialize)]
struct ToolToml {
    approval_mode: Option<McpToolApproval>,
}

impl Snapshot {
    /// MCP servers from the files, by name.
    pub fn mcp_servers(&self) -> BTreeMap<String, McpServer> {
        let servers: BTreeMap<String, ServerToml> = self.view().table("mcp_servers");
        let limit = self.requirements().mcp_servers.as_ref();
        servers
            .into_iter()
            .map(|(name, toml)| (name.clone(), server(&name, toml, limit)))
            .collect()
    }

    /// A server that a plugin brings, in the words of `[mcp_servers]`; `None` if it cannot be one. The
    /// administrator's limits hold for it as for others.
    pub fn plugin_mcp_server(&self, name: &str, json: Value) -> Option<McpServer> {
        let toml: ServerToml = serde_json::from_value(json).ok()?;
        let is_one = toml.command.as_ref().is_some_and(|it| !it.is_empty()) == toml.url.is_empty();
        let limit = self.requirements().mcp_servers.as_ref();
        is_one.then(|| server(name, toml, limit))
    }
}

/// Notes servers that the administrator's limits switch off.
pub(crate) fn note_forbidden(view: &View<'_>, limits: &Requirements, notes: &mut Vec<String>) {
    let Some(limit) = &limits.mcp_servers else {
        return;
    };
    let servers: BTreeMap<String, ServerToml> = view.table("mcp_servers");
    for (name, toml) in servers {
        let is_wanted = toml.enabled.unwrap_or(true);
        if is_wanted && server(&name, toml, Some(limit)).forbidden {
            notes.push(format!(
                "The MCP server `{name}` is not used: requirements do not allow it (set by {}).",
                limit.source
            ));
        }
    }
}

fn server(
    name: &str,
    toml: ServerToml,
    limit: Option<&Limit<BTreeMap<String, McpIdentity>>>,
) -> McpServer {
    let transport = match toml.command {
        Some(command) => McpTransport::Stdio {
            command,
            args: toml.args,
            env: toml.env,
            env_vars: toml.env_vars,
            cwd: toml.cwd,
        },
        None => McpTransport::Http {
            url: toml.url,
            bearer_token_env_var: toml.bearer_token_env_var,
            http_headers: toml.http_headers,
            env_http_headers: toml.env_http_headers,
            oauth_resource: toml.oauth_resource,
        },
    };
    let allowed = limit.is_none_or(|limit| match (limit.value.get(name), &transport) {
        (Some(McpIdentity::Command(allowed)), McpTransport::Stdio { command, .. }) => {
            allowed == command
        }
        (Some(McpIdentity::Url(allowed)), McpTransport::Http { url, .. }) => allowed == url,
        _ => false,
    });
    let startup_ms = toml.startup_timeout_ms.map(Duration::from_millis);
    McpServer {
        transport,
        enabled: toml.enabled.unwrap_or(true) && allowed,
        forbidden: !allowed,
        required: toml.required,
        startup_timeout: seconds(toml.startup_timeout_sec)
            .or(startup_ms)
            .unwrap_or(Duration::from_secs(30)),
        tool_timeout: seconds(toml.tool_timeout_sec).unwrap_or(Duration::from_secs(120)),
        enabled_tools: toml.enabled_tools,
        disabled_tools: toml.disabled_tools,
        scopes: toml.scopes,
        tools: toml
            .tools
            .into_iter()
            .filter_map(|(name, tool)| Some((name, tool.approval_mode?)))
            .collect(),
    }
}

fn seconds(seconds: Option<f64>) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds?).ok()
}
