//! `thread/unsubscribe`: no more events; a thread without subscribers is unloaded.

use quipu_wire::method::request::ThreadUnsubscribe;
use quipu_wire::{ThreadUnsubscribeParams, ThreadUnsubscribeResponse, ThreadUnsubscribeStatus};
use tokio::sync::oneshot;

use super::ReplyHandler;
use crate::threads::{self, Message, load};
use crate::{Cx, Refusal, Reply};

impl ReplyHandler for ThreadUnsubscribe {
    async fn handle(cx: Cx, params: ThreadUnsubscribeParams, reply: Reply<Self>) {
        let id = match threads::parse_id(&params.thread_id) {
            Ok(id) => id.to_string(),
            Err(error) => return reply.send(Err(error)).await,
        };
        let thread = cx.server.threads.get(&id);
        let (done, left) = oneshot::channel();
        let status = match &thread {
            Some(thread) => {
                thread
                    .send(Message::Unsubscribe {
                        client: cx.client.id,
                        done,
                    })
                    .await;
                match left.await {
                    Ok(left) => left,
                    Err(_) if cx.server.threads.get(&id).is_some() => {
                        let text = "the request failed by a defect of the server";
                        return reply.send(Err(Refusal::internal(text))).await;
                    }
                    Err(_) => (ThreadUnsubscribeStatus::NotLoaded, false),
                }
            }
            None => (ThreadUnsubscribeStatus::NotLoaded, false),
        };
        let (status, alone) = status;
        reply.send(Ok(ThreadUnsubscribeResponse { status })).await;
        if let (true, Some(thread)) = (alone, thread) {
            load::unload(&cx.server, &thread).await;
        }
    }
}
