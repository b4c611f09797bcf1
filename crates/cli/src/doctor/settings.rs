//! What the configuration says, and whether provider, stored threads and MCP servers answer.

use std::collections::BTreeMap;
use std::time::Duration;

use quipu_client::Client;
use quipu_client::wire::{
    ConfigLayerSource, ConfigReadParams, ConfigWarningNotification, ListMcpServerStatusParams,
    McpAuthStatus,
};
use quipu_config::{LoadRequest, Loader, Snapshot};
use quipu_model::BuiltIn;
use serde_json::Value;

use super::finding::Finding;
use crate::cmd::models;
use crate::exec::thread::{everything, text};
use crate::session;

/// How long a provider or all MCP servers may take to answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Whether the files can be read, and what in them has no effect.
pub fn configuration(config: &Loader) -> Vec<Finding> {
    let file = config.home().config_file();
    let started = match config.start_up() {
        Ok(started) => started,
        Err(error) => {
            return vec![
                Finding::error("config", error.to_string()).fix("Correct the command line."),
            ];
        }
    };
    if let Some(invalid) = started.invalid {
        let why = invalid.details.unwrap_or(invalid.summary);
        let fix = format!(
            "Correct {}; until then no thread can be started.",
            file.display()
        );
        return vec![Finding::error("config", why).fix(fix)];
    }
    let mut findings = vec![match file.exists() {
        true => Finding::ok("config", format!("{} is valid", file.display())),
        false => Finding::warning("config", format!("{} does not exist", file.display()))
            .fix("Run `quipu init`."),
    }];
    let warnings = started
        .warnings
        .iter()
        .map(|it| Finding::warning("config", said(it)));
    findings.extend(warnings);
    let deprecated = started.snapshot.deprecations().into_iter();
    findings.extend(deprecated.map(|it| Finding::warning("config", it.summary)));
    findings
}

fn said(warning: &ConfigWarningNotification) -> String {
    let details = warning.details.as_deref().unwrap_or_default();
    format!("{} {details}", warning.summary).trim().to_owned()
}

/// What only a running server can say. It runs in this process and ends with the last answer.
pub fn live(config: Loader) -> Vec<Finding> {
    let found = match config.load(&LoadRequest::default()) {
        Ok(found) => found,
        Err(_) => return Vec::new(),
    };
    let env = config.env().clone();
    let cwd = env.cwd().display().to_string();
    let examined = session::with_client(config, async |client, server| {
        let mut findings = vec![origins(client, cwd).await];
        let key_is_set = |name: &str| env.get(name).is_some_and(|it| !it.trim().is_empty());
        let chosen = match found.model().provider {
            Some(id) => Ok(id),
            None => match server.choose_provider() {
                Ok(choice) => Ok(choice.taken.provider.id.to_owned()),
                Err(none) => Err(none.to_string()),
            },
        };
        findings.push(match chosen {
            Ok(id) => provider(&id, server, &found, key_is_set).await,
            Err(none) => Finding::error("model", "no model provider is configured").fix(none),
        });
        findings.push(threads(client).await);
        findings.extend(mcp(client, &found).await);
        Ok(findings)
    });
    examined.unwrap_or_else(|error| vec![Finding::error("server", error)])
}

/// How many settings each file contributes.
async fn origins(client: &Client, cwd: String) -> Finding {
    let params = ConfigReadParams {
        include_layers: false,
        cwd: Some(cwd),
    };
    let read = match client.config_read(params).await {
        Ok(read) => read,
        Err(error) => return Finding::error("settings", text(error)),
    };
    let mut by_layer: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (key, layer) in &read.origins {
        by_layer.entry(source(&layer.name)).or_default().push(key);
    }
    let details = by_layer
        .into_iter()
        .map(|(layer, keys)| format!("{layer}: {}", keys.join(", ")));
    let summary = format!("{} value(s) are set", read.origins.len());
    Finding::ok("settings", summary).details(details)
}

/// A layer as a user knows it.
pub fn source(layer: &ConfigLayerSource) -> String {
    match layer {
        ConfigLayerSource::Mdm { domain, key } => format!("device management {domain} {key}"),
        ConfigLayerSource::System { file }
        | ConfigLayerSource::User { file }
        | ConfigLayerSource::LegacyManagedConfigTomlFromFile { file } => file.to_string(),
        ConfigLayerSource::Project { dot_codex_folder } => {
            format!("{dot_codex_folder}/config.toml")
        }
        ConfigLayerSource::SessionFlags => "command line".to_owned(),
        ConfigLayerSource::LegacyManagedConfigTomlFromMdm => "managed preferences".to_owned(),
        ConfigLayerSource::Unrecognized(_) => "another layer".to_owned(),
    }
}

/// Asks the provider for its models, which needs name, connection, certificate and key to be right.
async fn provider(
    id: &str,
    server: &std::sync::Arc<quipu_server::Server>,
    found: &Snapshot,
    key_is_set: impl Fn(&str) -> bool,
) -> Finding {
    let provider = match server.provider(found) {
        Ok(provider) => provider,
        Err(error) => return Finding::error("model", error).fix("Run `quipu providers`."),
    };
    if provider.wire_api.is_offline() {
        return Finding::warning(
            "model",
            "the offline model is in use; its answers are scripted",
        )
        .fix("Run `quipu init` to use a real one.");
    }
    let built_in = BuiltIn::named(id).and_then(|it| it.env_keys.first().map(|it| (*it).to_owned()));
    if let Some(key) = provider.env_key.clone().or(built_in)
        && !provider.requires_openai_auth
        && !key_is_set(&key)
    {
        return Finding::error("model", format!("`{id}` needs a key and {key} is not set")).fix(
            format!("export {key}=…, or choose another provider with `quipu init`."),
        );
    }
    match tokio::time::timeout(PATIENCE, models::offer(server, found)).await {
        Ok(Ok(offer)) => {
            let default = offer.default.unwrap_or_else(|| "none".to_owned());
            let count = offer.models.len();
            Finding::ok(
                "model",
                format!("`{id}` lists {count} model(s); in use: {default}"),
            )
        }
        Ok(Err(error)) => Finding::error("model", error)
            .fix("Check the address, the network and the key; `quipu models` tries again."),
        Err(_) => Finding::error(
            "model",
            format!("`{id}` did not answer within {} s", PATIENCE.as_secs()),
        )
        .fix("Check the address, the network and the proxy."),
    }
}

/// The index answers, or is built again where it was damaged.
async fn threads(client: &Client) -> Finding {
    match client.list_threads(everything()).await {
        Ok(page) if page.data.is_empty() => {
            Finding::ok("threads", "the index answers; no threads are stored")
        }
        Ok(page) => {
            let more = page.next_cursor.map_or("", |_| " or more");
            Finding::ok(
                "threads",
                format!("the index answers; {}{more} thread(s)", page.data.len()),
            )
        }
        Err(error) => Finding::error("threads", text(error)).fix(
            "Stop all servers, then remove quipu_index_*.sqlite from the home; it is built again.",
        ),
    }
}

/// Starts every configured MCP server and counts its tools.
async fn mcp(client: &Client, found: &Snapshot) -> Vec<Finding> {
    let configured = found.merged().get("mcp_servers").and_then(Value::as_object);
    let Some(configured) = configured.filter(|it| !it.is_empty()) else {
        return vec![Finding::ok("mcp", "no MCP servers are configured")];
    };
    let params = ListMcpServerStatusParams {
        cursor: None,
        limit: None,
    };
    let listed = tokio::time::timeout(PATIENCE, client.mcp_server_status_list(params)).await;
    let listed = match listed {
        Ok(Ok(listed)) => listed.data,
        Ok(Err(error)) => return vec![Finding::error("mcp", text(error))],
        Err(_) => {
            let waited = format!("not all servers answered within {} s", PATIENCE.as_secs());
            return vec![
                Finding::error("mcp", waited).fix("`quipu mcp test NAME` tries one of them."),
            ];
        }
    };
    let disabled = |name: &str| configured[name].get("enabled") == Some(&Value::Bool(false));
    let names = configured.keys().filter(|name| !disabled(name));
    names
        .map(|name| {
            let status = listed.iter().find(|it| it.name == *name);
            match status {
                Some(it) if !it.tools.is_empty() => {
                    Finding::ok("mcp", format!("`{name}` offers {} tool(s)", it.tools.len()))
                }
                Some(it) if it.auth_status == McpAuthStatus::NotLoggedIn => {
                    Finding::error("mcp", format!("`{name}` needs a login"))
                        .fix(format!("quipu mcp login {name}"))
                }
                _ => Finding::warning("mcp", format!("`{name}` offers no tools, or did not start"))
                    .fix(format!("quipu mcp test {name}")),
            }
        })
        .collect()
}
