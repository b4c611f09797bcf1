//! `account/read`: who is logged in.

use std::sync::Arc;

use quipu_auth::Login;
use quipu_wire::method::request::AccountRead;
use quipu_wire::{GetAccountParams, GetAccountResponse};

use super::Handler;
use crate::blocking::blocking;
use crate::{Cx, Refusal, Server, accounts};

impl Handler for AccountRead {
    async fn run(cx: Cx, params: GetAccountParams) -> Result<Self::Result, Refusal> {
        read(&cx.server, params.refresh_token).await
    }
}

async fn read(server: &Arc<Server>, refresh: bool) -> Result<GetAccountResponse, Refusal> {
    let required = blocking(server, |server| accounts::requires_login(server)).await??;
    let login = if required {
        accounts::login(server, refresh).await
    } else {
        None
    };
    let account = login.as_ref().map(Login::account).transpose();
    Ok(GetAccountResponse {
        account: account.map_err(|error| Refusal::invalid_request(error.to_string()))?,
        requires_openai_auth: required,
    })
}
