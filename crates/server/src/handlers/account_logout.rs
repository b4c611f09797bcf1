//! `account/logout`: forgets who is logged in.

use quipu_wire::method::NoParams;
use quipu_wire::method::event::AccountUpdated;
use quipu_wire::method::request::AccountLogout;
use quipu_wire::{AccountUpdatedNotification, LogoutAccountResponse};

use super::ReplyHandler;
use crate::accounts::{Stop, stop_pending};
use crate::blocking::blocking;
use crate::{Cx, Refusal, Reply};

impl ReplyHandler for AccountLogout {
    async fn handle(cx: Cx, _params: NoParams, reply: Reply<Self>) {
        stop_pending(&cx.server, Stop::Cancelled).await;
        let done = blocking(&cx.server, |server| server.accounts.log_out()).await;
        let failed = |error| Refusal::internal(format!("logout failed: {error}"));
        if let Err(error) = done.and_then(|done| done.map_err(failed)) {
            return reply.send(Err(error)).await;
        }
        reply.send(Ok(LogoutAccountResponse {})).await;
        let updated = AccountUpdatedNotification {
            auth_mode: None,
            plan_type: None,
        };
        cx.server.hub.broadcast::<AccountUpdated>(&updated).await;
    }
}
