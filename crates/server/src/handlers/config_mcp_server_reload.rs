//! `config/mcpServer/reload`: loaded threads take over the configured MCP servers with their next turn.

use quipu_config::LoadRequest;
use quipu_wire::McpServerRefreshResponse;
use quipu_wire::method::Method;
use quipu_wire::method::request::ConfigMcpServerReload;

use super::Handler;
use crate::blocking::blocking;
use crate::threads::{McpMessage, Message};
use crate::{Cx, Refusal};

impl Handler for ConfigMcpServerReload {
    async fn run(cx: Cx, _params: <Self as Method>::Params) -> Result<Self::Result, Refusal> {
        reload(&cx).await
    }
}

async fn reload(cx: &Cx) -> Result<McpServerRefreshResponse, Refusal> {
    blocking(&cx.server, |server| {
        server.settings.config.load(&LoadRequest::default())
    })
    .await?
    .map_err(Refusal::config_unreadable)?;
    for thread in cx.server.threads.all() {
        thread.send(Message::Mcp(McpMessage::Reload)).await;
    }
    Ok(McpServerRefreshResponse {})
}
