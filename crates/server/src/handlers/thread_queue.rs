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

macro_rules! passed_on {
    ($($method:ident ($params:ident) as $message:ident;)*) => {$(
        impl ReplyHandler for $method {
            async fn handle(cx: Cx, params: $params, reply: Reply<Self>) {
                match threads::loaded(&cx.server, &params.thread_id) {
                    Ok(thread) => {
                        let message = QueueMessage::$message { params, reply };
                        thread.send(Message::Queue(message)).await;
                    }
                    Err(error) => reply.send(Err(error)).await,
                }
            }
        }
    )*};
}

passed_on! {
    ThreadQueueDelete (ThreadQueueDeleteParams) as Delete;
    ThreadQueueReorder (ThreadQueueReorderParams) as Reorder;
    ThreadQueueStart (ThreadQueueStartParams) as Start;
}

macro_rules! checked_and_passed_on {
    ($($method:ident ($params:ident) as $message:ident;)*) => {$(
        impl ReplyHandler for $method {
            async fn handle(cx: Cx, params: $params, reply: Reply<Self>) {
                if let Some(error) = too_long(&params.input) {
                    return reply.send(Err(error)).await;
                }
                match threads::loaded(&cx.server, &params.thread_id) {
                    Ok(thread) => {
                        let message = QueueMessage::$message { params, reply };
                        thread.send(Message::Queue(message)).await;
                    }
                    Err(error) => reply.send(Err(error)).await,
                }
            }
        }
    )*};
}

checked_and_passed_on! {
    ThreadQueueAdd (ThreadQueueAddParams) as Add;
    ThreadQueueUpdate (ThreadQueueUpdateParams) as Update;
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
