//! `account/login/cancel`: gives up a login that waits for its user.

use quipu_wire::method::request::AccountLoginCancel;
use quipu_wire::{CancelLoginAccountParams, CancelLoginAccountResponse, CancelLoginAccountStatus};
use uuid::Uuid;

use super::ReplyHandler;
use crate::accounts::Stop;
use crate::{Cx, Refusal, Reply};

impl ReplyHandler for AccountLoginCancel {
    async fn handle(cx: Cx, params: CancelLoginAccountParams, reply: Reply<Self>) {
        let Ok(id) = Uuid::try_parse(&params.login_id) else {
            let text = format!("invalid login id: {}", params.login_id);
            return reply.send(Err(Refusal::invalid_request(text))).await;
        };
        let pending = cx.server.logins.take(id);
        let status = match pending {
            Some(_) => CancelLoginAccountStatus::Canceled,
            None => CancelLoginAccountStatus::NotFound,
        };
        reply.send(Ok(CancelLoginAccountResponse { status })).await;
        if let Some(pending) = pending {
            pending.stop(Stop::Cancelled).await;
        }
    }
}
