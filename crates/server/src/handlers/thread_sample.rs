//! `thread/sample` and `thread/sample/cancel`: a question beside a thread.

use quipu_rpc::Id;
use quipu_wire::method::request::{ThreadSample, ThreadSampleCancel};
use quipu_wire::{
    RequestId, ThreadSampleCancelParams, ThreadSampleCancelResponse, ThreadSampleParams,
};

use super::{Handler, ReplyHandler};
use crate::lanes::Key;
use crate::samples::Cancellable;
use crate::threads::{self, ThreadHandle, Verb};
use crate::{Cx, Refusal, Reply};

/// The longest question, in bytes.
const MAX_PROMPT: usize = 4_000;

impl ReplyHandler for ThreadSample {
    /// Is handled at once, so that a request to cancel it finds it; it then waits for its thread.
    async fn handle(cx: Cx, params: ThreadSampleParams, reply: Reply<Self>) {
        cx.client.words.note(None, params.effort);
        let cancellable = Cancellable::new(cx.client.clone(), reply.id().clone());
        let lane = Key::thread(&params.thread_id);
        let server = cx.server.clone();
        let asking = async move {
            let thread = match source(&cx, &params) {
                Ok(thread) => thread,
                Err(error) => return reply.send(Err(error)).await,
            };
            let params = Box::new(params);
            let verb = Verb::Sample {
                params,
                cancellable,
                reply,
            };
            thread.send(verb).await;
        };
        server.lanes.run(lane, Box::pin(asking));
    }
}

/// The thread that a question is about.
fn source(cx: &Cx, params: &ThreadSampleParams) -> Result<ThreadHandle, Refusal> {
    let refuse = |text: &str| Err(Refusal::invalid_request(text));
    let is_short = params.prompt.len() <= MAX_PROMPT && !params.prompt.trim().is_empty();
    if params.expected_turn_id.is_empty() || !is_short {
        return refuse("thread/sample requires expectedTurnId and a prompt of at most 4000 bytes");
    }
    match threads::loaded(&cx.server, &params.thread_id) {
        Err(Refusal::InvalidThreadId(problem)) => refuse(&problem),
        Err(_) => refuse("thread/sample requires a loaded source"),
        loaded => loaded,
    }
}

impl Handler for ThreadSampleCancel {
    async fn run(cx: Cx, params: ThreadSampleCancelParams) -> Result<Self::Result, Refusal> {
        let id = match params.request_id {
            RequestId::String(id) => Id::String(id),
            RequestId::Integer(id) => Id::Integer(id),
        };
        cx.client.samples.cancel(&id);
        Ok(ThreadSampleCancelResponse {})
    }
}
