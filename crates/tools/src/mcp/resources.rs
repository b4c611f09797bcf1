//! `list_mcp_resources`, `list_mcp_resource_templates` and `read_mcp_resource`.

use std::time::Instant;

use futures_util::future::join_all;
use quipu_engine::CallKind;
use quipu_mcp::{Fleet, Listing, compact};
use quipu_wire::{Json, McpToolCallResult};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Shown, millis};
use crate::call::{ABORTED, Finished, Running};

/// The tools of this file.
pub(crate) const RESOURCE_TOOLS: [&str; 3] = [
    "list_mcp_resources",
    "list_mcp_resource_templates",
    "read_mcp_resource",
];
/// Whose call it is said to be when no server is named.
const ALL_SERVERS: &str = "codex";

#[derive(Default, Deserialize)]
struct ListArguments {
    server: Option<String>,
    cursor: Option<String>,
}

#[derive(Deserialize)]
struct ReadArguments {
    server: String,
    uri: String,
}

/// What is asked for.
enum Wanted {
    List {
        listing: Listing,
        server: Option<String>,
        cursor: Option<String>,
    },
    Read {
        server: String,
        uri: String,
    },
}

/// Runs one of the tools, which change nothing and are asked about by nobody.
pub(crate) async fn resource_tool(run: &Running) -> Finished {
    let wanted = match wanted(run) {
        Ok(wanted) => wanted,
        Err(error) => return error.into(),
    };
    let server = match &wanted {
        Wanted::List { server, .. } => server.as_deref().unwrap_or(ALL_SERVERS),
        Wanted::Read { server, .. } => server,
    };
    let arguments = run.arguments::<Json>().ok();
    let shown = Shown {
        id: run.id(),
        server,
        tool: &run.call.name,
        arguments: arguments.as_ref(),
    };
    run.started(shown.started()).await;
    let begun = Instant::now();
    let fleet = &run.scope.mcp.fleet;
    let outcome = tokio::select! {
        outcome = perform(fleet, &wanted) => outcome,
        () = run.cancel.cancelled() => Err(ABORTED.to_owned()),
    };
    match outcome {
        Ok(text) => {
            let told = McpToolCallResult {
                content: vec![json!({ "type": "text", "text": text }).into()],
                structured_content: None,
            };
            let item = shown.succeeded(told, false, millis(begun));
            run.completed(item).await;
            text.into()
        }
        Err(message) => {
            run.completed(shown.failed(&message, millis(begun))).await;
            message.into()
        }
    }
}

/// Reads the arguments; the error is for the model.
fn wanted(run: &Running) -> Result<Wanted, String> {
    let filled = |text: Option<String>| {
        text.map(|it| it.trim().to_owned())
            .filter(|it| !it.is_empty())
    };
    if run.call.name == "read_mcp_resource" {
        let ReadArguments { server, uri } = read_arguments(run)?;
        let server = filled(Some(server)).ok_or("server must be provided")?;
        let uri = filled(Some(uri)).ok_or("uri must be provided")?;
        return Ok(Wanted::Read { server, uri });
    }
    let ListArguments { server, cursor } = match &run.call.kind {
        // A list needs no arguments at all.
        CallKind::Function(text) if text.trim().is_empty() => ListArguments::default(),
        _ => read_arguments(run)?,
    };
    let listing = match run.call.name.as_str() {
        "list_mcp_resources" => Listing::Resources,
        _ => Listing::ResourceTemplates,
    };
    Ok(Wanted::List {
        listing,
        server: filled(server),
        cursor: filled(cursor),
    })
}

/// Reads a value first, so that a missing member is named without a place in the text.
fn read_arguments<T: DeserializeOwned>(run: &Running) -> Result<T, String> {
    let value: Value = run.arguments()?;
    serde_json::from_value(value)
        .map_err(|error| format!("failed to parse function arguments: {error}"))
}

async fn perform(fleet: &Fleet, wanted: &Wanted) -> Result<String, String> {
    match wanted {
        Wanted::Read { server, uri } => read(fleet, server, uri).await,
        Wanted::List {
            listing,
            server: Some(server),
            cursor,
        } => list_one(fleet, *listing, server, cursor.as_deref()).await,
        Wanted::List {
            cursor: Some(_), ..
        } => Err("cursor can only be used when a server is specified".to_owned()),
        Wanted::List { listing, .. } => Ok(list_all(fleet, *listing).await),
    }
}

async fn read(fleet: &Fleet, server: &str, uri: &str) -> Result<String, String> {
    let failed = |why: String| format!("resources/read failed: {why}");
    let client = fleet.client(server).await;
    let client = client.map_err(|error| failed(error.to_string()))?;
    let contents = client.read_resource(uri).await.map_err(|error| {
        failed(format!(
            "resources/read failed for `{server}` ({uri}): {error}"
        ))
    })?;
    let (server, uri) = (json!(server), json!(uri));
    let contents = compact(contents.get());
    Ok(format!(
        r#"{{"server":{server},"uri":{uri},"contents":{contents}}}"#
    ))
}

/// How a list is called in the protocol, and in what the model gets.
fn names(listing: Listing) -> (&'static str, &'static str) {
    match listing {
        Listing::ResourceTemplates => ("resources/templates/list", "resourceTemplates"),
        _ => ("resources/list", "resources"),
    }
}

async fn list_one(
    fleet: &Fleet,
    listing: Listing,
    server: &str,
    cursor: Option<&str>,
) -> Result<String, String> {
    let (method, key) = names(listing);
    let failed = |why: String| format!("{method} failed: {why}");
    let client = fleet.client(server).await;
    let client = client.map_err(|error| failed(error.to_string()))?;
    let page = client.list(listing, cursor).await;
    let page = page.map_err(|error| failed(format!("{method} failed for `{server}`: {error}")))?;
    let next = page
        .next_cursor
        .map(|it| format!(r#","nextCursor":{}"#, json!(it)));
    let next = next.unwrap_or_default();
    let entries = entries(server, &page.entries).join(",");
    let server = json!(server);
    Ok(format!(
        r#"{{"server":{server},"{key}":[{entries}]{next}}}"#
    ))
}

/// The lists of all servers, side by side; one that fails is left out.
async fn list_all(fleet: &Fleet, listing: Listing) -> String {
    let lists = fleet.names().map(|server| async move {
        let client = fleet.client(server).await.ok()?;
        match client.list_all(listing).await {
            Ok(all) => Some(entries(server, &all)),
            Err(error) => {
                tracing::warn!(server, %error, "resources of an MCP server are left out");
                None
            }
        }
    });
    let all: Vec<String> = join_all(lists)
        .await
        .into_iter()
        .flatten()
        .flatten()
        .collect();
    let (_, key) = names(listing);
    format!(r#"{{"{key}":[{}]}}"#, all.join(","))
}

/// Each entry with the name of its server in front.
fn entries(server: &str, raw: &[Box<RawValue>]) -> Vec<String> {
    let server = json!(server);
    let with_server = |entry: &str| {
        let entry = compact(entry);
        let members = entry.strip_prefix('{')?;
        Some(match members {
            "}" => format!(r#"{{"server":{server}}}"#),
            members => format!(r#"{{"server":{server},{members}"#),
        })
    };
    let entries = raw.iter().map(|entry| entry.get());
    entries.filter_map(with_server).collect()
}
