//! `thread/realtime/*`: speaking with a thread. Requests are answered when the thread has taken them; what comes of
//! them is notified.

use std::sync::Arc;

use quipu_wire::method::Method;
use quipu_wire::method::request::{
    ThreadRealtimeAppendAudio, ThreadRealtimeAppendText, ThreadRealtimeStart, ThreadRealtimeStop,
};
use quipu_wire::{
    ThreadRealtimeAppendAudioParams, ThreadRealtimeAppendTextParams, ThreadRealtimeStartParams,
    ThreadRealtimeStopParams,
};

use super::ReplyHandler;
use crate::threads::{self, Message, RealtimeMessage, RealtimeRequest};
use crate::{Cx, Reply};

impl ReplyHandler for ThreadRealtimeStart {
    async fn handle(cx: Cx, params: ThreadRealtimeStartParams, reply: Reply<Self>) {
        let thread_id = params.thread_id.clone();
        ask(cx, &thread_id, reply, |reply| {
            RealtimeRequest::Start(params, reply)
        })
        .await;
    }
}

impl ReplyHandler for ThreadRealtimeAppendAudio {
    async fn handle(cx: Cx, params: ThreadRealtimeAppendAudioParams, reply: Reply<Self>) {
        let audio = params.audio;
        ask(cx, &params.thread_id, reply, |reply| {
            RealtimeRequest::Audio(audio, reply)
        })
        .await;
    }
}

impl ReplyHandler for ThreadRealtimeAppendText {
    async fn handle(cx: Cx, params: ThreadRealtimeAppendTextParams, reply: Reply<Self>) {
        let text = params.text;
        ask(cx, &params.thread_id, reply, |reply| {
            RealtimeRequest::Text(text, reply)
        })
        .await;
    }
}

impl ReplyHandler for ThreadRealtimeStop {
    async fn handle(cx: Cx, params: ThreadRealtimeStopParams, reply: Reply<Self>) {
        ask(cx, &params.thread_id, reply, RealtimeRequest::Stop).await;
    }
}

async fn ask<M: Method>(
    cx: Cx,
    thread_id: &str,
    reply: Reply<M>,
    request: impl FnOnce(Reply<M>) -> RealtimeRequest,
) {
    let thread = match threads::loaded(&cx.server, thread_id) {
        Ok(thread) => thread,
        Err(error) => return reply.send(Err(error)).await,
    };
    let ask = RealtimeMessage::Ask {
        client: Arc::clone(&cx.client),
        request: request(reply),
    };
    thread.send(Message::Realtime(ask)).await;
}
