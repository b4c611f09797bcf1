//! MCP servers of the configuration and of plugins, with every variable looked up.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use quipu_config::settings::{McpOauthStore, McpServer, McpToolApproval, McpTransport};
use quipu_config::{Loader, Snapshot};
use quipu_mcp::oauth::{Grant, Store};
use quipu_mcp::{
    ClientInfo, Endpoint, Program, ServerSpec, StartError, Tool, ToolOffer, ToolRules, Transport,
};
use quipu_model::Secrets;
use quipu_policy::mcp::ToolApprovalMode;
use quipu_tools::{Approvals, ToolApprovals};

use crate::Server;
use crate::apps::{self, AppRules, AppsLogin};
use crate::settings::PROTOCOL_VERSION;

/// How long the server of apps may take to start, and one call of its tools.
const APPS_STARTUP: Duration = Duration::from_secs(30);
const APPS_TOOL: Duration = Duration::from_secs(120);

/// Variables that every program gets.
const PASSED_ON: [&str; 11] = [
    "HOME",
    "LOGNAME",
    "PATH",
    "SHELL",
    "USER",
    "__CF_USER_TEXT_ENCODING",
    "LANG",
    "LC_ALL",
    "TERM",
    "TMPDIR",
    "TZ",
];
/// Variables that no program can do without on Windows.
const PASSED_ON_IN_WINDOWS: [&str; 10] = [
    "APPDATA",
    "COMSPEC",
    "LOCALAPPDATA",
    "PATHEXT",
    "PROGRAMDATA",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERPROFILE",
    "WINDIR",
];
/// Variables that name more certificate authorities to trust.
const CA_VARIABLES: [&str; 2] = ["CODEX_CA_CERTIFICATE", "SSL_CERT_FILE"];

/// What this program tells servers about itself: what they know it by from elsewhere.
pub(crate) fn client_info() -> ClientInfo {
    ClientInfo {
        name: "codex-mcp-client".to_owned(),
        title: "Codex".to_owned(),
        version: PROTOCOL_VERSION.to_owned(),
    }
}

/// The servers of the configuration and of plugins.
#[derive(Default)]
pub(crate) struct Configured {
    /// By name.
    pub servers: BTreeMap<String, McpServer>,
    /// What is made of the tools of some of them.
    rules: BTreeMap<String, Arc<dyn ToolRules>>,
    /// The tools of apps are among them.
    pub has_apps: bool,
}

impl Configured {
    /// The servers that count for these settings. A server of a plugin takes no name that is taken already.
    pub fn new(server: &Server, snapshot: &Arc<Snapshot>) -> Configured {
        let mut configured = Configured {
            servers: snapshot.mcp_servers(),
            ..Configured::default()
        };
        for plugin in server.plugins(snapshot) {
            for (name, it) in plugin.contents.mcp_servers {
                if configured.servers.contains_key(&name) {
                    continue;
                }
                let rules = OfPlugin(plugin.display_name.clone());
                configured.rules.insert(name.clone(), Arc::new(rules));
                configured.servers.insert(name, it);
            }
        }
        configured
    }

    /// The same with the server of apps, if there are apps. It takes its name, also from a configured server.
    pub fn with_apps(server: &Server, snapshot: &Arc<Snapshot>) -> Configured {
        let mut configured = Configured::new(server, snapshot);
        if apps::are_on(server, snapshot) {
            let rules = AppRules {
                settings: snapshot.apps(),
                plugins: apps::plugin_apps(server, snapshot),
            };
            let name = apps::SERVER.to_owned();
            configured.rules.insert(name.clone(), Arc::new(rules));
            configured.servers.insert(name, apps_server(snapshot));
            configured.has_apps = true;
        }
        configured
    }

    /// Whether a server is the one of apps.
    pub fn is_apps(&self, name: &str) -> bool {
        self.has_apps && name == apps::SERVER
    }

    /// Only these servers.
    pub fn keep(&mut self, names: &[String]) {
        self.servers.retain(|name, _| names.contains(name));
    }
}

/// The tools of a server that a plugin brings: models read which plugin it is.
#[derive(Debug)]
struct OfPlugin(String);

impl ToolRules for OfPlugin {
    fn offer(&self, _: &Tool) -> Option<ToolOffer> {
        Some(ToolOffer {
            note: Some(plugin_note(&[&self.0])),
            ..ToolOffer::default()
        })
    }
}

/// What models read about a tool that comes with plugins.
pub(crate) fn plugin_note(plugins: &[&str]) -> String {
    format!("(Plugin: {})", plugins.join(", "))
}

/// The server of apps, as if it were configured.
fn apps_server(snapshot: &Snapshot) -> McpServer {
    McpServer {
        transport: McpTransport::Http {
            url: apps::server_url(snapshot),
            bearer_token_env_var: None,
            http_headers: BTreeMap::new(),
            env_http_headers: BTreeMap::new(),
            oauth_resource: None,
        },
        enabled: true,
        forbidden: false,
        required: false,
        startup_timeout: APPS_STARTUP,
        tool_timeout: APPS_TOOL,
        enabled_tools: None,
        disabled_tools: Vec::new(),
        scopes: None,
        tools: BTreeMap::new(),
    }
}

/// The server of apps with all of its tools.
pub(crate) fn apps_spec(server: &Server, snapshot: &Snapshot) -> ServerSpec {
    ServerSpec {
        transport: Transport::Http(apps_endpoint(server, apps::server_url(snapshot))),
        required: false,
        startup_timeout: APPS_STARTUP,
        tool_timeout: APPS_TOOL,
        enabled_tools: None,
        disabled_tools: Vec::new(),
        announces_elicitation: true,
        rules: None,
    }
}

fn apps_endpoint(server: &Server, url: String) -> Endpoint {
    Endpoint {
        url,
        headers: Vec::new(),
        bearer: None,
        grant: None,
        login: Some(Arc::new(AppsLogin(server.weak()))),
        certificates: certificates(server),
    }
}

/// The servers that are switched on.
pub(crate) fn specs(server: &Server, configured: &Configured) -> BTreeMap<String, ServerSpec> {
    let enabled = configured.servers.iter().filter(|(_, it)| it.enabled);
    enabled
        .map(|(name, it)| {
            let is_apps = configured.is_apps(name);
            let transport = match transport(server, name, &it.transport) {
                Ok(Transport::Http(endpoint)) if is_apps => {
                    Transport::Http(apps_endpoint(server, endpoint.url))
                }
                Ok(transport) => transport,
                Err(error) => Transport::Unusable(error),
            };
            let spec = ServerSpec {
                transport,
                required: it.required,
                startup_timeout: it.startup_timeout,
                tool_timeout: it.tool_timeout,
                enabled_tools: it.enabled_tools.clone(),
                disabled_tools: it.disabled_tools.clone(),
                announces_elicitation: is_apps,
                rules: configured.rules.get(name).cloned(),
            };
            (name.clone(), spec)
        })
        .collect()
}

/// Adds the tokens and keys that servers are given, by the name of a variable or as they are.
pub(crate) fn add_secrets(server: &Server, snapshot: &Arc<Snapshot>, secrets: &mut Secrets) {
    let env = server.settings.config.env();
    for (name, it) in &Configured::new(server, snapshot).servers {
        match &it.transport {
            McpTransport::Stdio {
                env: own, env_vars, ..
            } => {
                let passed_on = env_vars.iter().filter_map(|it| Some((it, env.get(it)?)));
                let own = own.iter().map(|(name, value)| (name, value.reveal()));
                let secret = passed_on
                    .chain(own)
                    .filter(|(name, _)| is_secret_name(name));
                secrets.extend(secret.map(|(_, value)| value.to_owned()));
            }
            McpTransport::Http {
                url,
                bearer_token_env_var,
                http_headers,
                env_http_headers,
                ..
            } => {
                let variables = env_http_headers.values().chain(bearer_token_env_var);
                secrets.extend(variables.filter_map(|it| env.get(it).map(str::to_owned)));
                for (header, value) in http_headers {
                    secrets.add_named(header, value.reveal());
                }
                secrets.extend(grant(server, name, url).iter().flat_map(|it| it.secrets()));
            }
        }
    }
}

/// Whether a variable is named like a secret.
fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["KEY", "SECRET", "TOKEN", "PASSWORD"]
        .iter()
        .any(|mark| name.contains(mark))
}

/// Which tools are asked about whatever they say of themselves, and which are not: by server, and by app.
pub(crate) fn approvals(configured: &Configured, settings: &Snapshot) -> Approvals {
    let servers = configured.servers.iter();
    let apps = settings.apps().approvals().into_iter();
    Approvals {
        servers: servers
            .map(|(name, it)| (name.clone(), tool_approvals(&it.tools, None)))
            .collect(),
        apps: apps
            .map(|(id, it)| (id, tool_approvals(&it.tools, it.others)))
            .collect(),
    }
}

fn tool_approvals(
    tools: &BTreeMap<String, McpToolApproval>,
    others: Option<McpToolApproval>,
) -> ToolApprovals {
    let mode = |mode: McpToolApproval| match mode {
        McpToolApproval::Auto => ToolApprovalMode::Auto,
        McpToolApproval::Prompt => ToolApprovalMode::Prompt,
        McpToolApproval::Approve => ToolApprovalMode::Approve,
    };
    let tools = tools.iter();
    ToolApprovals {
        others: others.map(mode).unwrap_or_default(),
        tools: tools.map(|(tool, it)| (tool.clone(), mode(*it))).collect(),
    }
}

fn transport(
    server: &Server,
    name: &str,
    configured: &McpTransport,
) -> Result<Transport, StartError> {
    let env = server.settings.config.env();
    match configured {
        McpTransport::Stdio {
            command,
            args,
            env: own,
            env_vars,
            cwd,
        } => {
            let of_system = PASSED_ON_IN_WINDOWS.into_iter().filter(|_| cfg!(windows));
            let passed_on = PASSED_ON
                .into_iter()
                .chain(of_system)
                .chain(env_vars.iter().map(String::as_str));
            let passed_on = passed_on.filter_map(|name| Some((name, env.get(name)?)));
            let own = own
                .iter()
                .map(|(name, value)| (name.as_str(), value.reveal()));
            // The last of two variables with one name counts.
            let vars: BTreeMap<&str, &str> = passed_on.chain(own).collect();
            let words = std::iter::once(command).chain(args);
            Ok(Transport::Stdio(Program {
                argv: words.map(OsString::from).collect(),
                env: vars
                    .into_iter()
                    .map(|(name, value)| (name.into(), value.into()))
                    .collect(),
                cwd: server.cwd().join(cwd.clone().unwrap_or_default()),
                search_path: None,
            }))
        }
        McpTransport::Http {
            url,
            bearer_token_env_var,
            http_headers,
            env_http_headers,
            ..
        } => {
            let own = http_headers.iter();
            let own = own.map(|(name, value)| (name.clone(), value.reveal().to_owned()));
            let looked_up = env_http_headers.iter().filter_map(|(name, variable)| {
                let value = env.get(variable).filter(|it| !it.trim().is_empty())?;
                Some((name.clone(), value.to_owned()))
            });
            let bearer = bearer_token_env_var.as_deref();
            Ok(Transport::Http(Endpoint {
                url: url.clone(),
                headers: own.chain(looked_up).collect(),
                bearer: bearer.map(|it| token(server, name, it)).transpose()?,
                grant: grant(server, name, url),
                login: None,
                certificates: certificates(server),
            }))
        }
    }
}

fn token(server: &Server, name: &str, variable: &str) -> Result<String, StartError> {
    let value = server.settings.config.env().get(variable);
    let problem = match value.map(str::trim) {
        Some(token) if !token.is_empty() => return Ok(token.to_owned()),
        Some(_) => "empty",
        None => "not set",
    };
    Err(StartError::Token {
        variable: variable.to_owned(),
        server: name.to_owned(),
        problem,
    })
}

/// Whether the configuration says how to authenticate, even if the variable it names is not set.
pub(crate) fn has_token(server: &Server, configured: &McpTransport) -> bool {
    match configured {
        McpTransport::Http {
            bearer_token_env_var: Some(_),
            ..
        } => true,
        configured => matches!(
            transport(server, "", configured),
            Ok(Transport::Http(endpoint)) if endpoint.has_token()
        ),
    }
}

/// The stored login at a server.
pub(crate) fn grant(server: &Server, name: &str, url: &str) -> Option<Arc<Grant>> {
    Grant::load(server.mcp_logins.clone(), name, url).map(Arc::new)
}

/// Where logins are kept when the server starts. `auto` is the file: a keyring may ask the user for a password, which
/// nobody who starts a thread expects.
pub(crate) fn login_store(config: &Loader) -> Store {
    let snapshot = config.load_without_cloud();
    let store = snapshot.map_or_else(|_| McpOauthStore::default(), |it| it.mcp_oauth().store);
    match store {
        McpOauthStore::Keyring => Store::Keyring,
        McpOauthStore::File | McpOauthStore::Auto => Store::in_home(config.home().path()),
    }
}

/// More certificate authorities to trust.
pub(crate) fn certificates(server: &Server) -> Option<PathBuf> {
    let env = server.settings.config.env();
    let named = CA_VARIABLES.iter().find_map(|name| env.get(name));
    named.filter(|it| !it.is_empty()).map(PathBuf::from)
}
