//! `thread/name/set`: a name for people.

use quipu_wire::method::event;
use quipu_wire::method::request::ThreadNameSet;
use quipu_wire::{ThreadNameUpdatedNotification, ThreadSetNameParams, ThreadSetNameResponse};

use super::ReplyHandler;
use crate::blocking::blocking;
use crate::threads::{self, Message};
use crate::{Cx, Refusal, Reply};

impl ReplyHandler for ThreadNameSet {
    async fn handle(cx: Cx, params: ThreadSetNameParams, reply: Reply<Self>) {
        let named = match rename(&cx, &params).await {
            Ok(named) => named,
            Err(error) => return reply.send(Err(error)).await,
        };
        reply.send(Ok(ThreadSetNameResponse {})).await;
        cx.server
            .hub
            .broadcast::<event::ThreadNameUpdated>(&named)
            .await;
    }
}

async fn rename(
    cx: &Cx,
    params: &ThreadSetNameParams,
) -> Result<ThreadNameUpdatedNotification, Refusal> {
    let id = threads::parse_id(&params.thread_id)?;
    let name = params.name.trim();
    if name.is_empty() {
        return Err(Refusal::invalid_request("thread name must not be empty"));
    }
    let failed = |error| Refusal::internal(format!("failed to set thread name: {error}"));
    let thread_id = id.to_string();
    match cx.server.threads.get(&thread_id) {
        Some(thread) => {
            if thread
                .snapshot()
                .await
                .is_some_and(|snapshot| snapshot.ephemeral)
            {
                let text = "Session persistence is disabled; cannot rename thread.";
                return Err(Refusal::invalid_request(text));
            }
            thread
                .send(Message::Rename {
                    name: name.to_owned(),
                })
                .await;
        }
        None => {
            let found = blocking(&cx.server, move |server| server.store.find(id)).await?;
            found
                .map_err(failed)?
                .ok_or_else(|| Refusal::ThreadNotFound(thread_id.clone()))?;
        }
    }
    let stored = name.to_owned();
    let named = blocking(&cx.server, move |server| server.store.set_name(id, &stored)).await?;
    named.map_err(failed)?;
    Ok(ThreadNameUpdatedNotification {
        thread_id,
        thread_name: Some(name.to_owned()),
    })
}
