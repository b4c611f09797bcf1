//! `thread/realtime/*`: speaking with a thread. Requests are answered when the thread has taken them; what comes of
//! them is notified.

use std::sync::Arc;

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

/// Each request is one to the conversation of the thread, with a part of its params if it has any.
macro_rules! passed_on {
    ($($method:ident ($params:ident) as $request:ident$( with $part:ident)?;)*) => {$(
        impl ReplyHandler for $method {
            async fn handle(cx: Cx, params: $params, reply: Reply<Self>) {
                threads::pass_on(&cx.server, &params.thread_id, reply, |reply| {
                    Message::Realtime(RealtimeMessage::Ask {
                        client: Arc::clone(&cx.client),
                        request: RealtimeRequest::$request($(params.$part,)? reply),
                    })
                })
                .await;
            }
        }
    )*};
}

passed_on! {
    ThreadRealtimeAppendAudio (ThreadRealtimeAppendAudioParams) as Audio with audio;
    ThreadRealtimeAppendText (ThreadRealtimeAppendTextParams) as Text with text;
    ThreadRealtimeStop (ThreadRealtimeStopParams) as Stop;
}

impl ReplyHandler for ThreadRealtimeStart {
    async fn handle(cx: Cx, params: ThreadRealtimeStartParams, reply: Reply<Self>) {
        let thread_id = params.thread_id.clone();
        threads::pass_on(&cx.server, &thread_id, reply, |reply| {
            Message::Realtime(RealtimeMessage::Ask {
                client: Arc::clone(&cx.client),
                request: RealtimeRequest::Start(params, reply),
            })
        })
        .await;
    }
}
