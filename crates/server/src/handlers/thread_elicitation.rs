//! `thread/increment_elicitation` and `thread/decrement_elicitation`: questions that a client shows on its
//! own, during which time limits of tools stand still.

use quipu_wire::method::request::{ThreadDecrementElicitation, ThreadIncrementElicitation};
use quipu_wire::{
    ThreadDecrementElicitationParams, ThreadDecrementElicitationResponse,
    ThreadIncrementElicitationParams, ThreadIncrementElicitationResponse,
};
use tokio::sync::oneshot;

use super::Handler;
use crate::threads::{self, Message};
use crate::{Cx, Refusal};

impl Handler for ThreadIncrementElicitation {
    async fn run(
        cx: Cx,
        params: ThreadIncrementElicitationParams,
    ) -> Result<Self::Result, Refusal> {
        let count = count(&cx, &params.thread_id, 1).await;
        count.map(|count| ThreadIncrementElicitationResponse {
            count,
            paused: count > 0,
        })
    }
}

impl Handler for ThreadDecrementElicitation {
    async fn run(
        cx: Cx,
        params: ThreadDecrementElicitationParams,
    ) -> Result<Self::Result, Refusal> {
        let count = count(&cx, &params.thread_id, -1).await;
        count.map(|count| ThreadDecrementElicitationResponse {
            count,
            paused: count > 0,
        })
    }
}

async fn count(cx: &Cx, thread_id: &str, delta: i64) -> Result<u64, Refusal> {
    let thread = threads::loaded(&cx.server, thread_id)?;
    let (done, counted) = oneshot::channel();
    thread.send(Message::CountElicitation { delta, done }).await;
    match counted.await {
        Ok(Some(count)) => Ok(count),
        Ok(None) => Err(Refusal::invalid_request(
            "out-of-band elicitation count is already zero",
        )),
        Err(_) => Err(Refusal::ThreadNotFound(thread.id.to_string())),
    }
}
