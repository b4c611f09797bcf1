//! `thread/revert`: a turn and all after it are taken back.

use quipu_wire::ThreadRevertParams;
use quipu_wire::method::request::ThreadRevert;

use super::ReplyHandler;
use crate::threads::{self, Verb};
use crate::{Cx, Reply};

impl ReplyHandler for ThreadRevert {
    async fn handle(cx: Cx, params: ThreadRevertParams, reply: Reply<Self>) {
        if let Some(thread) = cx.server.threads.get(&params.thread_id) {
            let refused = threads::refuse_ephemeral(&thread, |_| {
                "ephemeral threads do not support thread/revert".to_owned()
            });
            if let Err(error) = refused.await {
                return reply.send(Err(error)).await;
            }
        }
        threads::pass_on(&cx.server, &params.thread_id, reply, |reply| Verb::Revert {
            before: params.before_turn_id,
            reply,
        })
        .await;
    }
}
