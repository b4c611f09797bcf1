//! `thread/increment_elicitation` and `thread/decrement_elicitation`: questions that a client shows on its
//! own, during which time limits of tools stand still.

use quipu_rpc::ErrorObject;
use quipu_wire::method::request::{ThreadDecrementElicitation, ThreadIncrementElicitation};
use quipu_wire::{
    ThreadDecrementElicitationParams, ThreadDecrementElicitationResponse,
    ThreadIncrementElicitationParams, ThreadIncrementElicitationResponse,
};
use tokio::sync::oneshot;

use super::Handler;
use crate::threads::{self, Message};
use crate::{Cx, Reply};

impl Handler for ThreadIncrementElicitation {
    async fn handle(cx: Cx, params: ThreadIncrementElicitationParams, reply: Reply<Self>) {
        let count = count(&cx, &params.thread_id, 1).await;
        reply
            .send(count.map(|count| ThreadIncrementElicitationResponse {
                count,
                paused: count > 0,
            }))
            .await;
    }
}

impl Handler for ThreadDecrementElicitation {
    async fn handle(cx: Cx, params: ThreadDecrementElicitationParams, reply: Reply<Self>) {
        let count = count(&cx, &params.thread_id, -1).await;
        reply
            .send(count.map(|count| ThreadDecrementElicitationResponse {
                count,
                paused: count > 0,
            }))
            .await;
    }
}

async fn count(cx: &Cx, thread_id: &str, delta: i64) -> Result<u64, ErrorObject> {
    let thread = threads::loaded(&cx.server, thread_id)?;
    let (done, counted) = oneshot::channel();
    thread.send(Message::CountElicitation { delta, done }).await;
    match counted.await {
        Ok(Some(count)) => Ok(count),
        Ok(None) => Err(ErrorObject::invalid_request(
            "out-of-band elicitation count is already zero",
        )),
        Err(_) => Err(threads::not_found(&thread.id)),
    }
}
