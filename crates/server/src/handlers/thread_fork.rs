//! `thread/fork`: a new thread with the history of another.

use std::convert::identity;
use std::path::PathBuf;
use std::sync::Arc;

use quipu_wire::method::event;
use quipu_wire::method::request::ThreadFork;
use quipu_wire::{ThreadForkParams, ThreadForkResponse, ThreadStartedNotification};

use super::ReplyHandler;
use crate::blocking::blocking;
use crate::threads::{self, Opened, Overrides, load};
use crate::words::Words;
use crate::{Cx, Refusal, Reply, cloud};

impl ReplyHandler for ThreadFork {
    async fn handle(cx: Cx, params: ThreadForkParams, reply: Reply<Self>) {
        cx.client.words.note(params.approval_policy.as_ref(), None);
        cx.client.words.note_config(params.config.as_ref());
        let exclude_turns = params.exclude_turns;
        let mut opened = match fork(&cx, params).await {
            Ok(opened) => opened,
            Err(error) => return reply.send(Err(error)).await,
        };
        if exclude_turns {
            opened.thread.turns.clear();
        }
        let hold = opened.hold.take();
        let thread = opened.thread.clone();
        reply.send(Ok(forked(opened, &cx.client.words))).await;
        cx.server
            .hub
            .broadcast::<event::ThreadStarted>(&ThreadStartedNotification { thread })
            .await;
        drop(hold);
    }
}

async fn fork(cx: &Cx, params: ThreadForkParams) -> Result<Opened, Refusal> {
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
    let (client, ephemeral) = (Arc::clone(&cx.client), params.ephemeral);
    let forking =
        move |server: &_| load::fork(server, &client, &path, &overrides, (ephemeral, &cut));
    let opened = blocking(&cx.server, forking).await.and_then(identity)?;
    opened.with_required_servers(&cx.server, "forking").await
}

fn forked(opened: Opened, words: &Words) -> ThreadForkResponse {
    let session = opened.session;
    ThreadForkResponse {
        thread: opened.thread,
        model_provider: session.provider.id.clone(),
        service_tier: session.service_tier,
        cwd: session.cwd_text(),
        runtime_workspace_roots: session.workspace_roots(),
        approval_policy: words.policy(session.approval_policy),
        approvals_reviewer: session.approvals_reviewer,
        sandbox: session.sandbox,
        reasoning_effort: session.effort.map(|it| words.effort(it)),
        model: session.model,
    }
}
