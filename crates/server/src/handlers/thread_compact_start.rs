//! `thread/compact/start`: the history is summarised.

use quipu_wire::ThreadCompactStartParams;
use quipu_wire::method::request::ThreadCompactStart;

use super::ReplyHandler;
use crate::threads::{self, Verb};
use crate::{Cx, Reply};

impl ReplyHandler for ThreadCompactStart {
    async fn handle(cx: Cx, params: ThreadCompactStartParams, reply: Reply<Self>) {
        match threads::loaded(&cx.server, &params.thread_id) {
            Ok(thread) => {
                thread.send(Verb::Compact { reply }).await;
            }
            Err(error) => reply.send(Err(error)).await,
        }
    }
}
