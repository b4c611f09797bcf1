//! `thread/archive`: out of the ordinary lists.

use quipu_wire::method::event;
use quipu_wire::method::request::ThreadArchive;
use quipu_wire::{ThreadArchiveParams, ThreadArchiveResponse, ThreadArchivedNotification};

use super::ReplyHandler;
use crate::blocking::blocking;
use crate::threads::{self, load};
use crate::{Cx, Refusal, Reply};

impl ReplyHandler for ThreadArchive {
    async fn handle(cx: Cx, params: ThreadArchiveParams, reply: Reply<Self>) {
        let thread_id = match archive(&cx, &params.thread_id).await {
            Ok(thread_id) => thread_id,
            Err(error) => return reply.send(Err(error)).await,
        };
        reply.send(Ok(ThreadArchiveResponse {})).await;
        cx.server
            .hub
            .broadcast::<event::ThreadArchived>(&ThreadArchivedNotification { thread_id })
            .await;
    }
}

async fn archive(cx: &Cx, id: &str) -> Result<String, Refusal> {
    let id = threads::parse_id(id)?;
    let thread_id = id.to_string();
    let loaded = cx.server.threads.get(&thread_id);
    match &loaded {
        Some(thread) => {
            let snapshot = thread.snapshot().await;
            snapshot
                .and_then(|snapshot| snapshot.rollout)
                .ok_or(Refusal::NoRollout(id))?;
        }
        None => drop(blocking(&cx.server, move |server| load::find(server, id)).await??),
    }
    if let Some(thread) = loaded {
        thread.close().await;
        cx.server.threads.remove(&thread);
    }
    let failed = |error| match error {
        quipu_journal::Error::ActiveWriter(_) => Refusal::ThreadInUse(error.to_string()),
        error => Refusal::internal(format!("failed to archive thread: {error}")),
    };
    let archived = blocking(&cx.server, move |server| server.store.archive(id)).await?;
    archived.map_err(failed)?;
    Ok(thread_id)
}
