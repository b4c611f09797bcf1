//! `mcpServerStatus/list`: what the configured MCP servers offer. They are started for the answer and ended
//! after it, so it takes as long as the slowest of them.

use std::sync::Arc;

use futures_util::future::join_all;
use quipu_config::LoadRequest;
use quipu_config::settings::{McpServer, McpTransport};
use quipu_mcp::{Fleet, Listing};
use quipu_wire::method::request::McpServerStatusList;
use quipu_wire::{
    Json, ListMcpServerStatusParams, ListMcpServerStatusResponse, McpAuthStatus, McpServerStatus,
};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use super::Handler;
use crate::blocking::blocking;
use crate::mcp::{self, Configured};
use crate::paging::page;
use crate::{Cx, Refusal, Server};

impl Handler for McpServerStatusList {
    async fn run(cx: Cx, params: ListMcpServerStatusParams) -> Result<Self::Result, Refusal> {
        list(&cx, &params).await
    }
}

async fn list(
    cx: &Cx,
    params: &ListMcpServerStatusParams,
) -> Result<ListMcpServerStatusResponse, Refusal> {
    let snapshot = blocking(&cx.server, |server| {
        server.settings.config.load(&LoadRequest::default())
    })
    .await?
    .map_err(Refusal::config_unreadable)?;
    let settings = Arc::clone(&snapshot);
    let configured = move |server: &Arc<Server>| Configured::with_apps(server, &settings);
    let mut wanted = blocking(&cx.server, configured).await?;
    let names: Vec<String> = wanted.servers.keys().cloned().collect();
    let cursor = params.cursor.as_deref();
    // Only the servers of the page are started.
    let page = page(names, cursor, params.limit, "MCP servers")?;
    wanted.keep(&page.data);
    Ok(ListMcpServerStatusResponse {
        data: statuses(&cx.server, &wanted).await,
        next_cursor: page.next_cursor,
    })
}

async fn statuses(server: &Server, wanted: &Configured) -> Vec<McpServerStatus> {
    // Nobody is notified of how they start, and their questions are dropped, which cancels them.
    let (events, mut reported) = mpsc::channel(1);
    tokio::spawn(async move { while reported.recv().await.is_some() {} });
    let specs = mcp::specs(server, wanted);
    let fleet = Fleet::start(specs, &mcp::client_info(), &events);
    let each = wanted
        .servers
        .iter()
        .map(|(name, it)| status(server, &fleet, name, (it, wanted.is_apps(name))));
    join_all(each).await
}

async fn status(
    server: &Server,
    fleet: &Fleet,
    name: &str,
    (configured, is_apps): (&McpServer, bool),
) -> McpServerStatus {
    let offers = async {
        let client = fleet.client(name).await.ok();
        let tools = fleet.tools_of(name).into_iter();
        let tools = tools.filter_map(|(name, tool)| Some((name, read((*tool.raw).to_owned())?)));
        let tools = tools.collect();
        let all = async |listing| match &client {
            Some(client) => client.list_all(listing).await.unwrap_or_default(),
            None => Vec::new(),
        };
        let (resources, templates) =
            tokio::join!(all(Listing::Resources), all(Listing::ResourceTemplates));
        (tools, resources, templates)
    };
    let auth_status = async {
        match is_apps {
            true => McpAuthStatus::BearerToken,
            false => auth_status(server, name, configured).await,
        }
    };
    let (auth_status, (tools, resources, templates)) = tokio::join!(auth_status, offers);
    McpServerStatus {
        name: name.to_owned(),
        tools,
        resources: resources.into_iter().filter_map(read).collect(),
        resource_templates: templates.into_iter().filter_map(read).collect(),
        auth_status,
    }
}

/// An entry of a server's list; one that is not what it should be is left out.
fn read<T: DeserializeOwned>(raw: Box<RawValue>) -> Option<T> {
    Json::try_from(raw).ok()?.parse().ok()
}

async fn auth_status(server: &Server, name: &str, configured: &McpServer) -> McpAuthStatus {
    let McpTransport::Http { url, .. } = &configured.transport else {
        return McpAuthStatus::Unsupported;
    };
    if mcp::has_token(server, &configured.transport) {
        return McpAuthStatus::BearerToken;
    }
    if mcp::grant(server, name, url).is_some() {
        return McpAuthStatus::OAuth;
    }
    let certificates = mcp::certificates(server);
    match configured.enabled && quipu_mcp::oauth::supports_login(url, certificates.as_deref()).await
    {
        true => McpAuthStatus::NotLoggedIn,
        false => McpAuthStatus::Unsupported,
    }
}
