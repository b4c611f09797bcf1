//! `thread/backgroundTerminals/clean`: processes that outlived their turns are ended.

use quipu_wire::method::request::ThreadBackgroundTerminalsClean;
use quipu_wire::{ThreadBackgroundTerminalsCleanParams, ThreadBackgroundTerminalsCleanResponse};

use super::ReplyHandler;
use crate::threads::{self, Message};
use crate::{Cx, Reply};

impl ReplyHandler for ThreadBackgroundTerminalsClean {
    async fn handle(cx: Cx, params: ThreadBackgroundTerminalsCleanParams, reply: Reply<Self>) {
        let thread = match threads::loaded(&cx.server, &params.thread_id) {
            Ok(thread) => thread,
            Err(error) => return reply.send(Err(error)).await,
        };
        reply
            .send(Ok(ThreadBackgroundTerminalsCleanResponse {}))
            .await;
        thread.send(Message::CleanTerminals).await;
    }
}
