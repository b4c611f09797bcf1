//! `account/read`: who is logged in.

use std::sync::Arc;

use quipu_auth::Login;
use quipu_rpc::ErrorObject;
use quipu_wire::method::request::AccountRead;
use quipu_wire::{GetAccountParams, GetAccountResponse};

use super::Handler;
use crate::blocking::blocking;
use crate::{Cx, Reply, Server, accounts};

impl Handler for AccountRead {
    async fn handle(cx: Cx, params: GetAccountParams, reply: Reply<Self>) {
        reply
            .send(read(&cx.server, params.refresh_token).await)
            .await;
    }
}

async fn read(server: &Arc<Server>, refresh: bool) -> Result<GetAccountResponse, ErrorObject> {
    let required = blocking(server, |server| accounts::requires_login(server)).await??;
    let login = if required {
        accounts::login(server, refresh).await
    } else {
        None
    };
    let account = login.as_ref().map(Login::account).transpose();
    Ok(GetAccountResponse {
        account: account.map_err(|error| ErrorObject::invalid_request(error.to_string()))?,
        requires_openai_auth: required,
    })
}
