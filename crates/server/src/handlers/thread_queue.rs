//! `thread/queue/*`: input that waits for the thread to be idle.

use quipu_wire::method::request::{
    ThreadQueueAdd, ThreadQueueDelete, ThreadQueueList, ThreadQueueReorder, ThreadQueueStart,
    ThreadQueueUpdate,
};
use quipu_wire::{
    ThreadQueueAddParams, ThreadQueueDeleteParams, ThreadQueueListParams, ThreadQueueListResponse,
    ThreadQueueReorderParams, ThreadQueueStartParams, ThreadQueueUpdateParams,
};
use tokio::sync::oneshot;

use super::turn_start::too_long;
use super::{Handler, ReplyHandler};
use crate::paging::page;
use crate::threads::{self, Message, QueueMessage};
use crate::{Cx, Refusal, Reply};

/// Each request is a message of the same name to the thread; input that is too long is refused here.
macro_rules! passed_on {
    ($($method:ident ($params:ident$(, $input:ident)?) as $message:ident;)*) => {$(
        impl ReplyHandler for $method {
            async fn handle(cx: Cx, params: $params, reply: Reply<Self>) {
                $(if let Some(error) = too_long(&params.$input) {
                    return reply.send(Err(error)).await;
                })?
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

impl Handler for ThreadQueueList {
    async fn run(cx: Cx, params: ThreadQueueListParams) -> Result<Self::Result, Refusal> {
        let thread = threads::loaded(&cx.server, &params.thread_id)?;
        let (done, listed) = oneshot::channel();
        let list = QueueMessage::List { done };
        thread.send(Message::Queue(list)).await;
        let all = listed.await.map_err(|_| Refusal::ThreadUnloading)?;
        let page = page(all, params.cursor.as_deref(), params.limit, "entries")?;
        Ok(ThreadQueueListResponse {
            data: page.data,
            next_cursor: page.next_cursor,
        })
    }
}
