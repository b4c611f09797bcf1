//! `thread/goal/set`, `thread/goal/get` and `thread/goal/clear`. A loaded thread owns its goal; that of another one is a
//! file.

use std::sync::Arc;

use quipu_journal::Kept;
use quipu_wire::method::request::{ThreadGoalClear, ThreadGoalGet, ThreadGoalSet};
use quipu_wire::{
    ThreadGoal, ThreadGoalClearParams, ThreadGoalClearResponse, ThreadGoalGetParams,
    ThreadGoalGetResponse, ThreadGoalSetParams, ThreadGoalSetResponse,
};

use super::ReplyHandler;
use crate::blocking::blocking;
use crate::threads::{self, GoalMessage, Message, ThreadHandle, load};
use crate::{Cx, Refusal, Reply, Server, goals};

impl ReplyHandler for ThreadGoalSet {
    async fn handle(cx: Cx, params: ThreadGoalSetParams, reply: Reply<Self>) {
        match locate(&cx, &params.thread_id).await {
            Ok(Location::Loaded(thread)) => {
                let params = Box::new(params);
                let set = GoalMessage::Set { params, reply };
                thread.send(Message::Goal(set)).await;
            }
            Ok(Location::Stored(file)) => {
                let setting = move |_: &Arc<Server>| set(&file, params);
                let goal = blocking(&cx.server, setting).await;
                let goal = goal.and_then(std::convert::identity);
                reply
                    .send(goal.map(|goal| ThreadGoalSetResponse { goal }))
                    .await;
            }
            Err(error) => reply.send(Err(error)).await,
        }
    }
}

fn set(file: &Kept, params: ThreadGoalSetParams) -> Result<ThreadGoal, Refusal> {
    let goal = goals::changed(file.read().as_ref(), params)?;
    file.write(&goal).map_err(failed)?;
    Ok(goal)
}

impl ReplyHandler for ThreadGoalGet {
    async fn handle(cx: Cx, params: ThreadGoalGetParams, reply: Reply<Self>) {
        match locate(&cx, &params.thread_id).await {
            Ok(Location::Loaded(thread)) => {
                let get = GoalMessage::Get { reply };
                thread.send(Message::Goal(get)).await;
            }
            Ok(Location::Stored(file)) => {
                let goal = blocking(&cx.server, move |_| file.read()).await;
                reply
                    .send(goal.map(|goal| ThreadGoalGetResponse { goal }))
                    .await;
            }
            Err(error) => reply.send(Err(error)).await,
        }
    }
}

impl ReplyHandler for ThreadGoalClear {
    async fn handle(cx: Cx, params: ThreadGoalClearParams, reply: Reply<Self>) {
        match locate(&cx, &params.thread_id).await {
            Ok(Location::Loaded(thread)) => {
                let clear = GoalMessage::Clear { reply };
                thread.send(Message::Goal(clear)).await;
            }
            Ok(Location::Stored(file)) => {
                let cleared = blocking(&cx.server, move |_| file.remove().map_err(failed)).await;
                let cleared = cleared.and_then(std::convert::identity);
                let answer = cleared.map(|cleared| ThreadGoalClearResponse { cleared });
                reply.send(answer).await;
            }
            Err(error) => reply.send(Err(error)).await,
        }
    }
}

/// Where the goal of a thread is.
enum Location {
    Loaded(ThreadHandle),
    Stored(Kept),
}

async fn locate(cx: &Cx, id: &str) -> Result<Location, Refusal> {
    let id = threads::parse_id(id)?;
    if let Some(thread) = cx.server.threads.get(&id.to_string()) {
        threads::refuse_ephemeral(&thread, |id| {
            format!("ephemeral thread does not support goals: {id}")
        })
        .await?;
        return Ok(Location::Loaded(thread));
    }
    let found = blocking(&cx.server, move |server| load::find(server, id)).await?;
    found.map_err(|_| Refusal::ThreadNotFound(id.to_string()))?;
    Ok(Location::Stored(cx.server.store.goal(id)))
}

fn failed(error: quipu_journal::Error) -> Refusal {
    Refusal::internal(format!("failed to store the goal: {}", error.reason()))
}
