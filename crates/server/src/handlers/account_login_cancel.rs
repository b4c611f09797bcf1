//! `account/login/cancel`: no login waits for anything yet, so there is none to cancel.

use quipu_rpc::ErrorObject;
use quipu_wire::method::request::AccountLoginCancel;
use quipu_wire::{CancelLoginAccountParams, CancelLoginAccountResponse, CancelLoginAccountStatus};
use uuid::Uuid;

use super::Handler;
use crate::{Cx, Reply};

impl Handler for AccountLoginCancel {
    async fn handle(_cx: Cx, params: CancelLoginAccountParams, reply: Reply<Self>) {
        let answer = match Uuid::try_parse(&params.login_id) {
            Ok(_) => Ok(CancelLoginAccountResponse {
                status: CancelLoginAccountStatus::NotFound,
            }),
            Err(_) => {
                let text = format!("invalid login id: {}", params.login_id);
                Err(ErrorObject::invalid_request(text))
            }
        };
        reply.send(answer).await;
    }
}
