//! `thread/revert`: a turn and all after it are taken back.

use quipu_wire::ThreadRevertParams;
use quipu_wire::method::request::ThreadRevert;

use super::ReplyHandler;
use crate::threads::{self, Verb};
use crate::{Cx, Reply};

impl ReplyHandler for ThreadRevert {
    async fn handle(cx: Cx, params: ThreadRevertParams, reply: Reply<Self>) {
        threads::pass_on(&cx.server, &params.thread_id, reply, |reply| Verb::Revert {
            before: params.before_turn_id,
            reply,
        })
        .await;
    }
}
