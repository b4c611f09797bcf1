//! `thread/start`: a new thread, which the caller follows.

use std::convert::identity;
use std::sync::Arc;

use quipu_wire::method::request::ThreadStart;
use quipu_wire::method::{Method as _, event};
use quipu_wire::{ThreadStartParams, ThreadStartedNotification};
use serde::Serialize;
use uuid::Uuid;

use super::ReplyHandler;
use crate::blocking::blocking;
use crate::dynamic_tools::declared_tools;
use crate::once::Once;
use crate::threads::join::{JoinReply, Joined, Joining};
use crate::threads::{self, Opened, Overrides, StartRequest, Verb, load};
use crate::{Cx, Refusal, Reply, cloud};

impl ReplyHandler for ThreadStart {
    async fn handle(cx: Cx, params: ThreadStartParams, reply: Reply<Self>) {
        cloud::ready(&cx.server).await;
        cx.client.words.note(params.approval_policy.as_ref(), None);
        cx.client.words.note_tier(params.service_tier);
        cx.client.words.note_config(params.config.as_ref());
        let key = params.idempotency_key.clone();
        let _alone = cx.server.keys.wait(key.as_deref()).await;
        let once = match begin(&cx, Self::NAME, key.as_deref(), &params) {
            Ok(once) => once,
            Err(error) => return reply.send(Err(error)).await,
        };
        let reply = match rejoin(&cx, once.as_ref(), JoinReply::Start(reply)).await {
            Some(reply) => reply,
            None => return,
        };
        let id = once.as_ref().and_then(|it| it.made().parse().ok());
        let opening = cx.clone();
        let opened = blocking(&cx.server, move |_| start(&opening, params, id)).await;
        let opened = match opened.and_then(identity) {
            Ok(opened) => opened.with_required_servers(&cx.server, "creating").await,
            Err(error) => Err(error),
        };
        match opened {
            Ok(opened) => announce(&cx, opened, reply).await,
            Err(error) => reply.refuse(error).await,
        }
    }
}

/// Begins a request that makes a thread, if it has a key.
pub(super) fn begin(
    cx: &Cx,
    method: &str,
    key: Option<&str>,
    params: &impl Serialize,
) -> Result<Option<Once>, Refusal> {
    let id = || Uuid::now_v7().to_string();
    Once::begin(&cx.server, (method, params), key, id)
}

/// Joins the thread that an earlier request with the same key made, if there is one; gives the reply back otherwise.
pub(super) async fn rejoin(cx: &Cx, once: Option<&Once>, reply: JoinReply) -> Option<JoinReply> {
    let Some(made) = once
        .filter(|it| it.is_repeated)
        .map(|it| it.made().to_owned())
    else {
        return Some(reply);
    };
    if let Some(thread) = cx.server.threads.get(&made) {
        let joining = Joining {
            after: None,
            exclude_turns: false,
            reply,
        };
        let client = Arc::clone(&cx.client);
        thread.send(Verb::Join { client, joining }).await;
        return None;
    }
    let opening = cx.clone();
    let opened = blocking(&cx.server, move |server| {
        let path = load::find(server, threads::parse_id(&made)?)?;
        let overrides = Overrides::default();
        load::resume(server, Some(&opening.client), &path, &overrides, None)
    });
    match opened.await.and_then(identity) {
        Ok(opened) => {
            let Opened {
                mut thread,
                session,
                catch_up,
                hold,
                ..
            } = opened;
            if matches!(reply, JoinReply::Start(_)) {
                thread.turns.clear();
            }
            Joined::new(thread, session, catch_up)
                .send(&cx.client, reply)
                .await;
            drop(hold);
            None
        }
        // It was never stored, so nothing of it is left.
        Err(Refusal::NoRollout(_)) => Some(reply),
        Err(error) => {
            reply.refuse(error).await;
            None
        }
    }
}

/// Answers with a new thread, and notifies all clients of it before it does anything.
pub(super) async fn announce(cx: &Cx, opened: Opened, reply: JoinReply) {
    let Opened {
        thread,
        session,
        catch_up,
        hold,
        ..
    } = opened;
    let started = ThreadStartedNotification {
        thread: thread.clone(),
    };
    Joined::new(thread, session, catch_up)
        .send(&cx.client, reply)
        .await;
    cx.server
        .hub
        .broadcast::<event::ThreadStarted>(&started)
        .await;
    drop(hold);
}

fn start(cx: &Cx, params: ThreadStartParams, id: Option<Uuid>) -> Result<Opened, Refusal> {
    let dynamic_tools = declared_tools(params.dynamic_tools.clone().unwrap_or_default())?;
    let request = StartRequest {
        overrides: Overrides::from(&params),
        ephemeral: params.ephemeral.unwrap_or(false),
        dynamic_tools,
        raw_items: params.experimental_raw_events,
        history: Vec::new(),
        id,
    };
    load::start(&cx.server, &cx.client, request)
}
