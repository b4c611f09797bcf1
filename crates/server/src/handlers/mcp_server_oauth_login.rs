//! `mcpServer/oauth/login`: a page for the browser; how the login ends is reported to everyone.

use std::sync::Arc;
use std::time::Duration;

use quipu_config::LoadRequest;
use quipu_config::settings::McpTransport;
use quipu_mcp::oauth::{Login, LoginRequest};
use quipu_wire::method::event::McpServerOauthLoginCompleted;
use quipu_wire::method::request::McpServerOauthLogin;
use quipu_wire::{
    McpServerOauthLoginCompletedNotification, McpServerOauthLoginParams,
    McpServerOauthLoginResponse,
};

use super::Handler;
use crate::blocking::blocking;
use crate::mcp::{self, Configured};
use crate::{Cx, Refusal, Server};

/// How long the user may take if the client does not say.
const DEFAULT_SECONDS: i64 = 300;

impl Handler for McpServerOauthLogin {
    async fn run(cx: Cx, params: McpServerOauthLoginParams) -> Result<Self::Result, Refusal> {
        start(&cx, params).await
    }
}

async fn start(
    cx: &Cx,
    params: McpServerOauthLoginParams,
) -> Result<McpServerOauthLoginResponse, Refusal> {
    let name = params.name.clone();
    let request = request(cx, params).await?;
    let failed =
        |why: String| Refusal::internal(format!("failed to login to MCP server '{name}': {why}"));
    let login = Login::start(request).await.map_err(failed)?;
    let authorization_url = login.authorization_url.clone();
    let (server, name) = (Arc::clone(&cx.server), name.clone());
    tokio::spawn(async move {
        let ended = login.finish(&server.mcp_logins).await;
        let params = McpServerOauthLoginCompletedNotification {
            name,
            success: ended.is_ok(),
            error: ended.err(),
        };
        server
            .hub
            .broadcast::<McpServerOauthLoginCompleted>(&params)
            .await;
    });
    Ok(McpServerOauthLoginResponse { authorization_url })
}

async fn request(cx: &Cx, params: McpServerOauthLoginParams) -> Result<LoginRequest, Refusal> {
    let snapshot = blocking(&cx.server, |server| {
        server.settings.config.load(&LoadRequest::default())
    })
    .await?
    .map_err(Refusal::config_unreadable)?;
    let name = params.name;
    let settings = Arc::clone(&snapshot);
    let configured = move |server: &Arc<Server>| Configured::new(server, &settings);
    let mut configured = blocking(&cx.server, configured).await?;
    let configured = configured
        .servers
        .remove(&name)
        .ok_or_else(|| Refusal::invalid_request(format!("No MCP server named '{name}' found.")))?;
    let McpTransport::Http {
        url,
        oauth_resource,
        ..
    } = configured.transport
    else {
        let text = "OAuth login is only supported for streamable HTTP servers.";
        return Err(Refusal::invalid_request(text));
    };
    let oauth = snapshot.mcp_oauth();
    let seconds = params.timeout_secs.unwrap_or(DEFAULT_SECONDS).max(1);
    Ok(LoginRequest {
        server: name,
        url,
        scopes: params.scopes.or(configured.scopes),
        resource: oauth_resource,
        callback_port: oauth.callback_port,
        callback_url: oauth.callback_url,
        client_name: "Codex".to_owned(),
        timeout: Duration::from_secs(seconds.unsigned_abs()),
        certificates: mcp::certificates(&cx.server),
    })
}
