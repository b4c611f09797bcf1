//! `quipu mcp`: the MCP servers of the configuration. The arguments are those of the official program.

use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use quipu_client::wire::{
    ListMcpServerStatusParams, McpAuthStatus, McpServerOauthLoginParams, McpServerStatus,
    ServerNotification,
};
use quipu_client::{Client, Event};
use quipu_config::edit::{Edit, WriteRequest};
use quipu_config::{Env, LoadRequest, Loader, Table};
use serde_json::{Map, Value, json};

use super::{app_server, print};
use crate::args::ConfigArgs;
use crate::exec::thread::text;
use crate::session;

/// How long a server may take to start and to list its tools.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// List the configured servers
    List(ListArgs),
    /// Add a server: a command after `--`, or `--url`
    Add(AddArgs),
    /// Remove a server
    Remove(NameArgs),
    /// Log in to a server that asks for it, in the browser
    Login(NameArgs),
    /// Start a server and list its tools
    Test(NameArgs),
}

#[derive(Debug, Args)]
pub struct ListArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub struct NameArgs {
    #[command(flatten)]
    config: ConfigArgs,
    #[arg(value_name = "NAME")]
    name: String,
}

#[derive(Debug, Args)]
pub struct AddArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Letters, digits, `-` and `_`
    #[arg(value_name = "NAME")]
    name: String,
    /// Address of a server that is reached over HTTP
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    url: Option<String>,
    /// Variable that holds the bearer token for `--url`
    #[arg(long, value_name = "VAR", requires = "url")]
    bearer_token_env_var: Option<String>,
    /// Variable for the command; may be repeated
    #[arg(long, value_name = "KEY=VALUE", requires = "command")]
    env: Vec<String>,
    /// Command to start, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub fn run(command: McpCommand, common: &ConfigArgs) -> Result<ExitCode, String> {
    match command {
        McpCommand::List(args) => list(args, common),
        McpCommand::Add(args) => add(args, common),
        McpCommand::Remove(args) => remove(args, common),
        McpCommand::Login(args) => login(args, common),
        McpCommand::Test(args) => test(args, common),
    }
}

fn load(common: &ConfigArgs, own: &ConfigArgs) -> Result<Loader, String> {
    let overrides = common.overrides(own)?;
    app_server::load(Env::from_process(), overrides)
}

/// The tables of all servers, by name.
fn configured(config: &Loader) -> Result<Table, String> {
    let found = config.load(&LoadRequest::default());
    let found = found.map_err(|error| error.to_string())?;
    let servers = found.merged().get("mcp_servers").and_then(Value::as_object);
    Ok(servers.cloned().unwrap_or_default())
}

fn list(args: ListArgs, common: &ConfigArgs) -> Result<ExitCode, String> {
    let servers = configured(&load(common, &args.config)?)?;
    if servers.is_empty() && !args.json {
        eprintln!("no MCP servers are configured; `quipu mcp add` adds one");
    }
    print::lines(servers.iter().map(|(name, server)| match args.json {
        true => json!({ "name": name, "enabled": is_enabled(server), "transport": transport(server) }).to_string(),
        false => {
            let state = if is_enabled(server) { "" } else { "  (disabled)" };
            format!("{name:<20} {}{state}", transport(server))
        }
    }))
}

fn is_enabled(server: &Value) -> bool {
    server["enabled"] != json!(false)
}

/// The command or the address. Arguments and queries may hold secrets and are left out.
fn transport(server: &Value) -> String {
    let url = server["url"].as_str();
    let url = url.map(|it| it.split(['?', '#']).next().unwrap_or(it));
    let shown = url.or_else(|| server["command"].as_str());
    shown.unwrap_or("neither `command` nor `url`").to_owned()
}

fn add(args: AddArgs, common: &ConfigArgs) -> Result<ExitCode, String> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    if args.name.is_empty() || !args.name.chars().all(fits) {
        let name = &args.name;
        return Err(format!(
            "invalid server name '{name}' (use letters, numbers, '-', '_')"
        ));
    }
    let mut server = Map::new();
    match (&args.url, args.command.split_first()) {
        (Some(url), None) => {
            server.insert("url".to_owned(), json!(url));
        }
        (None, Some((program, arguments))) => {
            server.insert("command".to_owned(), json!(program));
            if !arguments.is_empty() {
                server.insert("args".to_owned(), json!(arguments));
            }
        }
        _ => return Err("give a command after `--`, or an address with `--url`".to_owned()),
    }
    if let Some(variable) = &args.bearer_token_env_var {
        server.insert("bearer_token_env_var".to_owned(), json!(variable));
    }
    let mut variables = Map::new();
    for pair in &args.env {
        let (name, value) = pair.split_once('=').ok_or("--env takes KEY=VALUE")?;
        variables.insert(name.to_owned(), json!(value));
    }
    if !variables.is_empty() {
        server.insert("env".to_owned(), Value::Object(variables));
    }
    let config = load(common, &args.config)?;
    write(&config, &args.name, Value::Object(server))?;
    eprintln!("Added global MCP server '{}'.", args.name);
    Ok(ExitCode::SUCCESS)
}

fn remove(args: NameArgs, common: &ConfigArgs) -> Result<ExitCode, String> {
    let config = load(common, &args.config)?;
    check_name(&configured(&config)?, &args.name)?;
    write(&config, &args.name, Value::Null)?;
    eprintln!("Removed global MCP server '{}'.", args.name);
    Ok(ExitCode::SUCCESS)
}

fn write(config: &Loader, name: &str, server: Value) -> Result<(), String> {
    let request = WriteRequest {
        edits: vec![Edit::set(&["mcp_servers", name], server)],
        ..WriteRequest::default()
    };
    config.write(&request).map_err(|error| error.to_string())?;
    Ok(())
}

fn check_name(servers: &Table, name: &str) -> Result<(), String> {
    if servers.contains_key(name) {
        return Ok(());
    }
    let known: Vec<&str> = servers.keys().map(String::as_str).collect();
    let known = if known.is_empty() {
        "none".to_owned()
    } else {
        known.join(", ")
    };
    Err(format!(
        "no MCP server is named '{name}'; configured: {known}"
    ))
}

fn login(args: NameArgs, common: &ConfigArgs) -> Result<ExitCode, String> {
    let config = load(common, &args.config)?;
    check_name(&configured(&config)?, &args.name)?;
    session::with_client(config, async |client, _| {
        let mut events = client.events();
        let params = McpServerOauthLoginParams {
            name: args.name.clone(),
            scopes: None,
            timeout_secs: None,
        };
        let started = client.mcp_server_oauth_login(params).await.map_err(text)?;
        eprintln!(
            "Open this page in a browser on this machine:\n\n    {}\n",
            started.authorization_url
        );
        while let Some(event) = events.next().await {
            if let Event::Notification(notification) = event
                && let ServerNotification::McpServerOauthLoginCompleted(done) = notification
                && done.name == args.name
            {
                return match done.success {
                    true => {
                        eprintln!("Successfully logged in to '{}'.", args.name);
                        Ok(ExitCode::SUCCESS)
                    }
                    false => Err(done.error.unwrap_or_else(|| "the login failed".to_owned())),
                };
            }
        }
        Err("the server ended before the login".to_owned())
    })
}

fn test(args: NameArgs, common: &ConfigArgs) -> Result<ExitCode, String> {
    let mut config = load(common, &args.config)?;
    let servers = configured(&config)?;
    check_name(&servers, &args.name)?;
    // The others are not started.
    let mut overrides = common.overrides(&args.config)?;
    for name in servers.keys() {
        let key = format!("mcp_servers.{name}.enabled={}", *name == args.name);
        overrides
            .add_flag(&key)
            .map_err(|error| error.to_string())?;
    }
    config = app_server::load(config.env().clone(), overrides)?;
    let status = session::with_client(config, async |client, _| status(client, &args.name).await)?;
    match status {
        Some(it) if it.auth_status == McpAuthStatus::NotLoggedIn => Err(format!(
            "'{0}' needs a login: quipu mcp login {0}",
            args.name
        )),
        Some(it) if it.tools.is_empty() && it.resources.is_empty() => Err(format!(
            "'{}' did not start, or offers nothing; RUST_LOG=info says more",
            args.name
        )),
        Some(it) => print::lines(it.tools.iter().map(|(name, tool)| {
            let about = tool.description.as_deref().unwrap_or_default();
            format!("{name:<30} {}", about.lines().next().unwrap_or_default())
        })),
        None => Err(format!("'{}' did not start", args.name)),
    }
}

async fn status(client: &Client, name: &str) -> Result<Option<McpServerStatus>, String> {
    let params = ListMcpServerStatusParams {
        cursor: None,
        limit: None,
    };
    let listed = tokio::time::timeout(PATIENCE, client.mcp_server_status_list(params)).await;
    let listed = listed.map_err(|_| format!("no answer within {} s", PATIENCE.as_secs()))?;
    let listed = listed.map_err(text)?;
    Ok(listed.data.into_iter().find(|it| it.name == name))
}
