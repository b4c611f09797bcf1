//! `thread/compact/start`: the history is summarised.

use quipu_wire::ThreadCompactStartParams;
use quipu_wire::method::request::ThreadCompactStart;

use super::ReplyHandler;
use crate::threads::{self, Verb};
use crate::{Cx, Reply};

impl ReplyHandler for ThreadCompactStart {
    async fn handle(cx: Cx, params: ThreadCompactStartParams, reply: Reply<Self>) {
        threads::pass_on(&cx.server, &params.thread_id, reply, |reply| {
            Verb::Compact { reply }
        })
        .await;
    }
}
