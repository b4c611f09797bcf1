//! `account/read`: who is logged in.

use quipu_rpc::ErrorObject;
use quipu_wire::method::request::AccountRead;
use quipu_wire::{GetAccountParams, GetAccountResponse};

use super::Handler;
use crate::blocking::blocking;
use crate::{Cx, Reply, Server, accounts};

impl Handler for AccountRead {
    async fn handle(cx: Cx, _params: GetAccountParams, reply: Reply<Self>) {
        let read = blocking(&cx.server, |server| read(server)).await;
        reply.send(read.and_then(|read| read)).await;
    }
}

fn read(server: &Server) -> Result<GetAccountResponse, ErrorObject> {
    let requires_openai_auth = accounts::requires_login(server)?;
    let login = server
        .accounts
        .current()
        .filter(|_| requires_openai_auth)
        .map(|login| login.account())
        .transpose();
    Ok(GetAccountResponse {
        account: login.map_err(|error| ErrorObject::invalid_request(error.to_string()))?,
        requires_openai_auth,
    })
}
