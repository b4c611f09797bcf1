//! `list_mcp_resources`, `list_mcp_resource_templates` and `read_mcp_resource`.

use std::time::Instant;

use futures_util::future::{BoxFuture, join_all};
use quipu_engine::CallKind;
use quipu_mcp::{Fleet, Listing, compact};
use quipu_wire::{Json, McpToolCallResult};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Shown, millis};
use crate::call::{ABORTED, Finished, Running};
use crate::schema::describe;
use crate::scope::Scope;
use crate::spec::Spec;
use crate::tool::{Parallel, Tool};

/// The server that clients see in a call that names none.
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

describe!(ListArguments {
    required {}
    optional {
        server: "Only those of this server; of all servers if left out.",
        cursor: "Where the last list of the same server said that it goes on.",
    }
});

describe!(ReadArguments {
    required {
        server: "The server, as a list of resources names it.",
        uri: "The address, as a list of resources has it.",
    }
    optional {}
});

/// The tools of this file, which change nothing and need no approval.
#[derive(Clone, Copy)]
pub(crate) enum ResourceTool {
    List,
    ListTemplates,
    Read,
}

impl Tool for ResourceTool {
    fn name(&self) -> &'static str {
        match self {
            ResourceTool::List => "list_mcp_resources",
            ResourceTool::ListTemplates => "list_mcp_resource_templates",
            ResourceTool::Read => "read_mcp_resource",
        }
    }

    fn parallel(&self) -> Parallel {
        Parallel::Shared
    }

    fn spec(&self, scope: &Scope) -> Option<Spec> {
        let list = |what: &str| {
            let description = format!(
                "Lists the {what} that MCP servers share: files, records and other data to work with."
            );
            Spec::function::<ListArguments>(self.name(), &description)
        };
        (!scope.mcp.fleet.is_empty()).then(|| match self {
            ResourceTool::List => list("resources"),
            ResourceTool::ListTemplates => list("templates of resource addresses"),
            ResourceTool::Read => {
                let description = "Reads one resource of an MCP server.";
                Spec::function::<ReadArguments>(self.name(), description)
            }
        })
    }

    fn run<'a>(&'a self, run: &'a Running) -> BoxFuture<'a, Finished> {
        Box::pin(resource_tool(*self, run))
    }
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

async fn resource_tool(tool: ResourceTool, run: &Running) -> Finished {
    let wanted = match wanted(tool, run) {
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
            let result = McpToolCallResult {
                content: vec![json!({ "type": "text", "text": text }).into()],
                structured_content: None,
            };
            let item = shown.succeeded(result, false, millis(begun));
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
fn wanted(tool: ResourceTool, run: &Running) -> Result<Wanted, String> {
    let filled = |text: Option<String>| {
        text.map(|it| it.trim().to_owned())
            .filter(|it| !it.is_empty())
    };
    let listing = match tool {
        ResourceTool::List => Listing::Resources,
        ResourceTool::ListTemplates => Listing::ResourceTemplates,
        ResourceTool::Read => {
            let ReadArguments { server, uri } = read_arguments(run)?;
            let server = filled(Some(server)).ok_or("server must be provided")?;
            let uri = filled(Some(uri)).ok_or("uri must be provided")?;
            return Ok(Wanted::Read { server, uri });
        }
    };
    let ListArguments { server, cursor } = match &run.call.kind {
        // A list needs no arguments at all.
        CallKind::Function(text) if text.trim().is_empty() => ListArguments::default(),
        _ => read_arguments(run)?,
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
