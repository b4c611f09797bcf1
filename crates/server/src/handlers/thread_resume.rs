//! `thread/resume`: a stored thread is loaded, or a loaded one joined.

use std::convert::identity;
use std::path::PathBuf;
use std::sync::Arc;

use quipu_wire::method::event;
use quipu_wire::method::request::ThreadResume;
use quipu_wire::{Json, ThreadResumeParams, ThreadStatusChangedNotification};

use super::ReplyHandler;
use crate::blocking::blocking;
use crate::threads::join::{JoinReply, Joined, Joining};
use crate::threads::{self, Opened, Overrides, StartRequest, ThreadHandle, Verb, load};
use crate::{Cx, Refusal, Reply, cloud};

impl ReplyHandler for ThreadResume {
    async fn handle(cx: Cx, params: ThreadResumeParams, reply: Reply<Self>) {
        cx.client.words.note(params.approval_policy.as_ref(), None);
        cx.client.words.note_tier(params.service_tier);
        cx.client.words.note_config(params.config.as_ref());
        let exclude_turns = params.exclude_turns;
        if let Some(thread) = loaded(&cx, &params) {
            return rejoin(&cx, thread, params, reply).await;
        }
        cloud::ready(&cx.server).await;
        let opening = cx.clone();
        let opened = blocking(&cx.server, move |_| open(&opening, params)).await;
        let opened = match opened.and_then(identity) {
            Ok(opened) => opened.with_required_servers(&cx.server, "resuming").await,
            Err(error) => Err(error),
        };
        let opened = match opened {
            Ok(opened) => opened,
            Err(error) => return reply.send(Err(error)).await,
        };
        let changed = ThreadStatusChangedNotification {
            thread_id: opened.handle.id.to_string(),
            status: opened.thread.status.clone(),
        };
        cx.server
            .hub
            .broadcast::<event::ThreadStatusChanged>(&changed)
            .await;
        let Opened {
            mut thread,
            session,
            catch_up,
            hold,
            ..
        } = opened;
        if exclude_turns {
            thread.turns.clear();
        }
        Joined::new(thread, session, catch_up)
            .send(&cx.client, JoinReply::Resume(reply))
            .await;
        drop(hold);
    }
}

fn loaded(cx: &Cx, params: &ThreadResumeParams) -> Option<ThreadHandle> {
    let id = threads::parse_id(&params.thread_id).ok()?;
    cx.server.threads.get(&id.to_string())
}

async fn rejoin(
    cx: &Cx,
    thread: ThreadHandle,
    params: ThreadResumeParams,
    reply: Reply<ThreadResume>,
) {
    let id = &thread.id;
    if params.history.is_some() {
        let text = format!("cannot resume thread {id} with history while it is already running");
        return reply.send(Err(Refusal::invalid_request(text))).await;
    }
    if let Some(requested) = params.path {
        let active = thread
            .snapshot()
            .await
            .and_then(|snapshot| snapshot.thread.path)
            .unwrap_or_default();
        if requested != active {
            let text = format!(
                "cannot resume running thread {id} with mismatched path: requested `{requested}`, active `{active}`"
            );
            return reply.send(Err(Refusal::invalid_request(text))).await;
        }
    }
    thread
        .send(Verb::Join {
            client: Arc::clone(&cx.client),
            joining: Joining {
                after: params.quipu.map(|it| it.after),
                exclude_turns: params.exclude_turns,
                reply: JoinReply::Resume(reply),
            },
        })
        .await;
}

/// Loads by history, else by path, else by id.
fn open(cx: &Cx, params: ThreadResumeParams) -> Result<Opened, Refusal> {
    let overrides = Overrides::from(&params);
    if let Some(history) = params.history {
        if history.is_empty() {
            return Err(Refusal::invalid_request("history must not be empty"));
        }
        let history = history
            .iter()
            .filter_map(|item| Json::new(item).ok())
            .collect();
        let request = StartRequest {
            overrides,
            history,
            ..StartRequest::default()
        };
        return load::start(&cx.server, &cx.client, request);
    }
    let after = params.quipu.map(|it| it.after);
    let path = match params.path {
        Some(path) => PathBuf::from(path),
        None => load::find(&cx.server, threads::parse_id(&params.thread_id)?)?,
    };
    load::resume(&cx.server, Some(&cx.client), &path, &overrides, after)
}
