//! `thread/unarchive`: back into the ordinary lists.

use std::convert::identity;

use quipu_wire::method::event;
use quipu_wire::method::request::ThreadUnarchive;
use quipu_wire::{
    Thread, ThreadStatus, ThreadUnarchiveParams, ThreadUnarchiveResponse,
    ThreadUnarchivedNotification,
};

use super::ReplyHandler;
use crate::blocking::blocking;
use crate::threads::{self, load};
use crate::{Cx, Refusal, Reply};

impl ReplyHandler for ThreadUnarchive {
    async fn handle(cx: Cx, params: ThreadUnarchiveParams, reply: Reply<Self>) {
        let finding = cx.clone();
        let found = blocking(&cx.server, move |_| unarchive(&finding, &params.thread_id)).await;
        let thread = match found.and_then(identity) {
            Ok(thread) => thread,
            Err(error) => return reply.send(Err(error)).await,
        };
        let thread_id = thread.id.clone();
        reply.send(Ok(ThreadUnarchiveResponse { thread })).await;
        cx.server
            .hub
            .broadcast::<event::ThreadUnarchived>(&ThreadUnarchivedNotification { thread_id })
            .await;
    }
}

fn unarchive(cx: &Cx, id: &str) -> Result<Thread, Refusal> {
    let id = threads::parse_id(id)?;
    let path = match cx.server.store.unarchive(id) {
        Ok(path) => path,
        Err(quipu_journal::Error::NotArchived(_)) => {
            let text = format!("no archived rollout found for thread id {id}");
            return Err(Refusal::invalid_request(text));
        }
        Err(error) => {
            return Err(Refusal::internal(format!(
                "failed to unarchive thread: {error}"
            )));
        }
    };
    let thread = load::stored_thread(&cx.server, id, &path)?;
    Ok(Thread {
        status: ThreadStatus::NotLoaded,
        ..thread
    })
}
