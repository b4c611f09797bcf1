//! `thread/delete`: a thread is removed for good, archived or not.

use quipu_wire::method::event;
use quipu_wire::method::request::ThreadDelete;
use quipu_wire::{ThreadDeleteParams, ThreadDeleteResponse, ThreadDeletedNotification};

use super::ReplyHandler;
use crate::blocking::blocking;
use crate::sections::Sections;
use crate::threads;
use crate::{Cx, Refusal, Reply};

impl ReplyHandler for ThreadDelete {
    async fn handle(cx: Cx, params: ThreadDeleteParams, reply: Reply<Self>) {
        let thread_id = match delete(&cx, &params.thread_id).await {
            Ok(thread_id) => thread_id,
            Err(error) => return reply.send(Err(error)).await,
        };
        reply.send(Ok(ThreadDeleteResponse {})).await;
        cx.server
            .hub
            .broadcast::<event::ThreadDeleted>(&ThreadDeletedNotification { thread_id })
            .await;
    }
}

async fn delete(cx: &Cx, id: &str) -> Result<String, Refusal> {
    let id = threads::parse_id(id)?;
    let thread_id = id.to_string();
    let loaded = cx.server.threads.get(&thread_id);
    let is_loaded = loaded.is_some();
    if let Some(thread) = loaded {
        threads::refuse_ephemeral(&thread, |id| {
            format!("thread is not persisted and cannot be deleted: {id}")
        })
        .await?;
        thread.close().await;
        cx.server.threads.remove(&thread);
    }
    let deleted = blocking(&cx.server, move |server| {
        server.store.delete(id).inspect(|()| {
            for kept in server.store.kept(id) {
                if let Err(error) = kept.remove() {
                    tracing::warn!(thread = %id, %error, "failed to remove what a thread keeps");
                }
            }
            let thread = id.to_string();
            if Sections::read(&server.store).of(&thread).is_some() {
                let forgotten = Sections::change(&server.store, |it| Ok(it.forget(&thread)));
                if let Err(error) = forgotten {
                    tracing::warn!(%thread, %error, "failed to take a thread out of its section");
                }
            }
        })
    });
    let deleted = deleted.await?;
    match deleted {
        Ok(()) => Ok(thread_id),
        // Nothing was said in it yet.
        Err(quipu_journal::Error::NotFound(_)) if is_loaded => Ok(thread_id),
        Err(quipu_journal::Error::NotFound(_)) => Err(Refusal::NoRollout(id)),
        Err(error @ quipu_journal::Error::ActiveWriter(_)) => {
            Err(Refusal::invalid_request(error.to_string()))
        }
        Err(error) => Err(Refusal::internal(format!(
            "failed to delete thread: {error}"
        ))),
    }
}
