//! `review/start`: a code review, in the thread or beside it.

use quipu_rpc::ErrorObject;
use quipu_wire::method::event;
use quipu_wire::method::request::ReviewStart;
use quipu_wire::{ReviewDelivery, ReviewStartParams, Thread, ThreadStartedNotification};

use super::Handler;
use crate::context::review;
use crate::threads::{self, Message, Overrides, ThreadHandle, load};
use crate::{Cx, Reply};

impl Handler for ReviewStart {
    async fn handle(cx: Cx, mut params: ReviewStartParams, reply: Reply<Self>) {
        let thread = match prepare(&cx, &mut params).await {
            Ok(thread) => thread,
            Err(error) => return reply.send(Err(error)).await,
        };
        thread.send(Message::Review { params, reply }).await;
    }
}

/// The thread to review in: the one named, or a copy of it.
async fn prepare(cx: &Cx, params: &mut ReviewStartParams) -> Result<ThreadHandle, ErrorObject> {
    let thread = threads::loaded(&cx.server, &params.thread_id)?;
    params.target = review::checked(params.target.clone()).map_err(ErrorObject::invalid_request)?;
    if params.delivery != Some(ReviewDelivery::Detached) {
        return Ok(thread);
    }
    let id = threads::parse_id(&thread.id)?;
    let rollout = thread
        .look()
        .await
        .and_then(|look| look.rollout)
        .ok_or_else(|| load::no_rollout(id))?;
    let opened = load::fork(
        &cx.server,
        &cx.client,
        &rollout,
        &Overrides::default(),
        false,
    )
    .map_err(|error| {
        ErrorObject::internal(format!(
            "error creating detached review thread: {}",
            error.message
        ))
    })?;
    let started = ThreadStartedNotification {
        thread: Thread {
            turns: Vec::new(),
            ..opened.thread
        },
    };
    cx.server
        .hub
        .broadcast::<event::ThreadStarted>(&started)
        .await;
    Ok(opened.handle)
}
