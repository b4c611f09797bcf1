//! `thread/fork`: a new thread with the history of another.

use std::convert::identity;
use std::path::PathBuf;
use std::sync::Arc;

use quipu_wire::ThreadForkParams;
use quipu_wire::method::Method as _;
use quipu_wire::method::request::ThreadFork;
use uuid::Uuid;

use super::{ReplyHandler, thread_start};
use crate::blocking::blocking;
use crate::threads::join::JoinReply;
use crate::threads::{self, Opened, Overrides, load};
use crate::{Cx, Refusal, Reply, cloud};

impl ReplyHandler for ThreadFork {
    async fn handle(cx: Cx, params: ThreadForkParams, reply: Reply<Self>) {
        cx.client.words.note(params.approval_policy.as_ref(), None);
        cx.client.words.note_tier(params.service_tier);
        cx.client.words.note_config(params.config.as_ref());
        let exclude_turns = params.exclude_turns;
        let key = params.idempotency_key.clone();
        let _alone = cx.server.keys.wait(key.as_deref()).await;
        let once = match thread_start::begin(&cx, Self::NAME, key.as_deref(), &params) {
            Ok(once) => once,
            Err(error) => return reply.send(Err(error)).await,
        };
        let reply = JoinReply::Fork(reply);
        let Some(reply) = thread_start::rejoin(&cx, once.as_ref(), reply).await else {
            return;
        };
        let id = once.as_ref().and_then(|it| it.made().parse().ok());
        match fork(&cx, params, id).await {
            Ok(mut opened) => {
                if exclude_turns {
                    opened.thread.turns.clear();
                }
                thread_start::announce(&cx, opened, reply).await;
            }
            Err(error) => reply.refuse(error).await,
        }
    }
}

async fn fork(cx: &Cx, params: ThreadForkParams, id: Option<Uuid>) -> Result<Opened, Refusal> {
    let overrides = Overrides::from(&params);
    let path = match params.path {
        Some(path) => PathBuf::from(path),
        None => {
            let id = threads::parse_id(&params.thread_id)?;
            match cx.server.threads.get(&id.to_string()) {
                // Looking at a loaded thread also writes what it has recorded.
                Some(thread) => {
                    let snapshot = thread.snapshot().await;
                    snapshot
                        .and_then(|snapshot| snapshot.rollout)
                        .ok_or(Refusal::NoRollout(id))?
                }
                None => blocking(&cx.server, move |server| load::find(server, id)).await??,
            }
        }
    };
    cloud::ready(&cx.server).await;
    let cut = match (params.last_turn_id, params.before_turn_id) {
        (None, None) => load::Cut::None,
        (Some(last), None) => load::Cut::After(last),
        (None, Some(first)) => load::Cut::Before(first),
        (Some(_), Some(_)) => {
            let text = "`beforeTurnId` cannot be combined with `lastTurnId`";
            return Err(Refusal::invalid_request(text));
        }
    };
    let copy = load::Copy {
        ephemeral: params.ephemeral,
        cut,
        id,
    };
    let client = Arc::clone(&cx.client);
    let forking = move |server: &_| load::fork(server, &client, &path, &overrides, &copy);
    let opened = blocking(&cx.server, forking).await.and_then(identity)?;
    opened.with_required_servers(&cx.server, "forking").await
}
