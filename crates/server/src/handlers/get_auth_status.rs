//! `getAuthStatus`: who is logged in, for clients of the first protocol version.

use std::sync::Arc;

use quipu_auth::Login;
use quipu_wire::method::request::GetAuthStatus;
use quipu_wire::{GetAuthStatusParams, GetAuthStatusResponse};

use super::Handler;
use crate::blocking::blocking;
use crate::{Cx, Refusal, Server, accounts};

impl Handler for GetAuthStatus {
    async fn run(cx: Cx, params: GetAuthStatusParams) -> Result<Self::Result, Refusal> {
        status(&cx.server, params).await
    }
}

async fn status(
    server: &Arc<Server>,
    params: GetAuthStatusParams,
) -> Result<GetAuthStatusResponse, Refusal> {
    let required = blocking(server, |server| accounts::requires_login(server)).await??;
    let login = if required {
        accounts::login(server, params.refresh_token.unwrap_or_default()).await
    } else {
        None
    };
    let login = login.filter(|login| !login.secret().is_empty());
    let with_token = params.include_token.unwrap_or_default();
    let usable = |login: &&Login| with_token && !server.accounts.is_lost(login);
    let shown = login.as_ref().filter(usable);
    Ok(GetAuthStatusResponse {
        auth_method: login.as_ref().map(Login::mode),
        auth_token: shown.map(|login| login.secret().to_owned()),
        requires_openai_auth: Some(required),
    })
}
