//! `thread/start`: a new thread, which the caller follows.

use std::convert::identity;

use quipu_wire::method::event;
use quipu_wire::method::request::ThreadStart;
use quipu_wire::{ThreadStartParams, ThreadStartResponse, ThreadStartedNotification};

use super::ReplyHandler;
use crate::blocking::blocking;
use crate::dynamic_tools::declared_tools;
use crate::threads::{Opened, Overrides, StartRequest, load};
use crate::words::Words;
use crate::{Cx, Refusal, Reply, cloud};

impl ReplyHandler for ThreadStart {
    async fn handle(cx: Cx, params: ThreadStartParams, reply: Reply<Self>) {
        cloud::ready(&cx.server).await;
        cx.client.words.note(params.approval_policy.as_ref(), None);
        cx.client.words.note_config(params.config.as_ref());
        let opening = cx.clone();
        let opened = blocking(&cx.server, move |_| start(&opening, params)).await;
        let opened = match opened.and_then(identity) {
            Ok(opened) => opened.with_required_servers(&cx.server, "creating").await,
            Err(error) => Err(error),
        };
        let mut opened = match opened {
            Ok(opened) => opened,
            Err(error) => return reply.send(Err(error)).await,
        };
        let hold = opened.hold.take();
        let thread = opened.thread.clone();
        reply.send(Ok(started(opened, &cx.client.words))).await;
        cx.server
            .hub
            .broadcast::<event::ThreadStarted>(&ThreadStartedNotification { thread })
            .await;
        drop(hold);
    }
}

fn start(cx: &Cx, params: ThreadStartParams) -> Result<Opened, Refusal> {
    let dynamic_tools = declared_tools(params.dynamic_tools.clone().unwrap_or_default())?;
    let request = StartRequest {
        overrides: Overrides::from(&params),
        ephemeral: params.ephemeral.unwrap_or(false),
        dynamic_tools,
        raw_items: params.experimental_raw_events,
        history: Vec::new(),
    };
    load::start(&cx.server, &cx.client, request)
}

fn started(opened: Opened, words: &Words) -> ThreadStartResponse {
    let session = opened.session;
    ThreadStartResponse {
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
