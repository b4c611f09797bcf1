//! `thread/queue/*`: input that waits for the thread to be idle.

use quipu_wire::method::request::{
    ThreadQueueAdd, ThreadQueueDelete, ThreadQueueList, ThreadQueueReorder, ThreadQueueStart,
    ThreadQueueUpdate,
};
use quipu_wire::{
    QueuedSubmission, ThreadQueueAddParams, ThreadQueueDeleteParams, ThreadQueueListParams,
    ThreadQueueListResponse, ThreadQueueReorderParams, ThreadQueueStartParams,
    ThreadQueueUpdateParams,
};
use tokio::sync::oneshot;
use uuid::Uuid;

use super::turn_start::too_long;
use super::{Handler, ReplyHandler};
use crate::blocking::blocking;
use crate::paging::page;
use crate::threads::{self, Message, QueueEntry, QueueMessage};
use crate::{Cx, Refusal, Reply, Server};

/// Each request is a message of the same name to the thread; input that is too long is refused here.
macro_rules! passed_on {
    ($($method:ident ($params:ident$(, $input:ident)?) as $message:ident;)*) => {$(
        impl ReplyHandler for $method {
            async fn handle(cx: Cx, params: $params, reply: Reply<Self>) {
                $(if let Some(error) = too_long(&params.$input) {
                    return reply.send(Err(error)).await;
                })?
                if let Err(error) = check_stored(&cx, &params.thread_id).await {
                    return reply.send(Err(error)).await;
                }
                let thread_id = params.thread_id.clone();
                threads::pass_on(&cx.server, &thread_id, reply, |reply| {
                    Message::Queue(QueueMessage::$message { params, reply })
                })
                .await;
            }
        }
    )*};
}

passed_on! {
    ThreadQueueAdd (ThreadQueueAddParams, input) as Add;
    ThreadQueueUpdate (ThreadQueueUpdateParams, input) as Update;
    ThreadQueueDelete (ThreadQueueDeleteParams) as Delete;
    ThreadQueueReorder (ThreadQueueReorderParams) as Reorder;
    ThreadQueueStart (ThreadQueueStartParams) as Start;
}

/// Refuses a thread that lives in memory only: a queue is stored.
async fn check_stored(cx: &Cx, id: &str) -> Result<(), Refusal> {
    match cx.server.threads.get(id) {
        Some(thread) => {
            threads::refuse_ephemeral(&thread, |id| {
                format!("ephemeral thread does not support queued submissions: {id}")
            })
            .await
        }
        None => Ok(()),
    }
}

/// What waits for a thread that is not loaded.
fn stored(server: &Server, id: Uuid) -> Result<Vec<QueuedSubmission>, Refusal> {
    threads::require_stored(server, id)?;
    let entries: Option<Vec<QueueEntry>> = server.store.queue(id).read();
    let entries = entries.unwrap_or_default().into_iter();
    Ok(entries.map(|it| it.submission).collect())
}

impl Handler for ThreadQueueList {
    async fn run(cx: Cx, params: ThreadQueueListParams) -> Result<Self::Result, Refusal> {
        let id = threads::parse_id(&params.thread_id)?;
        check_stored(&cx, &id.to_string()).await?;
        let all = match cx.server.threads.get(&id.to_string()) {
            Some(thread) => {
                let (done, listed) = oneshot::channel();
                let list = QueueMessage::List { done };
                thread.send(Message::Queue(list)).await;
                listed.await.map_err(|_| Refusal::ThreadUnloading)?
            }
            None => {
                let stored = blocking(&cx.server, move |server| stored(server, id));
                stored.await??
            }
        };
        let page = page(all, params.cursor.as_deref(), params.limit, "entries")?;
        Ok(ThreadQueueListResponse {
            data: page.data,
            next_cursor: page.next_cursor,
        })
    }
}
