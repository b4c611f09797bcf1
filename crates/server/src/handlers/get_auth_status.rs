//! `getAuthStatus`: who is logged in, for clients of the first protocol version.

use quipu_rpc::ErrorObject;
use quipu_wire::method::request::GetAuthStatus;
use quipu_wire::{GetAuthStatusParams, GetAuthStatusResponse};

use super::Handler;
use crate::blocking::blocking;
use crate::{Cx, Reply, Server, accounts};

impl Handler for GetAuthStatus {
    async fn handle(cx: Cx, params: GetAuthStatusParams, reply: Reply<Self>) {
        let with_token = params.include_token.unwrap_or_default();
        let status = blocking(&cx.server, move |server| status(server, with_token)).await;
        reply.send(status.and_then(|status| status)).await;
    }
}

fn status(server: &Server, with_token: bool) -> Result<GetAuthStatusResponse, ErrorObject> {
    let requires = accounts::requires_login(server)?;
    let login = server
        .accounts
        .current()
        .filter(|login| requires && !login.secret().is_empty());
    Ok(GetAuthStatusResponse {
        auth_method: login.as_ref().map(quipu_auth::Login::mode),
        auth_token: login
            .filter(|_| with_token)
            .map(|login| login.secret().to_owned()),
        requires_openai_auth: Some(requires),
    })
}
