//! `thread/realtime/*`: speaking with a thread. Requests are answered when the thread has taken them; what comes of
//! them is notified.

use std::sync::Arc;

use quipu_wire::method::request::{
    ThreadRealtimeAppendAudio, ThreadRealtimeAppendText, ThreadRealtimeStart, ThreadRealtimeStop,
};
use quipu_wire::{
    ThreadRealtimeAppendAudioParams, ThreadRealtimeAppendAudioResponse,
    ThreadRealtimeAppendTextParams, ThreadRealtimeAppendTextResponse, ThreadRealtimeStartParams,
    ThreadRealtimeStartResponse, ThreadRealtimeStopParams, ThreadRealtimeStopResponse,
};
use tokio::sync::oneshot;

use super::Handler;
use crate::threads::{self, Message, RealtimeMessage, RealtimeRequest};
use crate::{Cx, Refusal};

impl Handler for ThreadRealtimeStart {
    async fn run(cx: Cx, params: ThreadRealtimeStartParams) -> Result<Self::Result, Refusal> {
        let thread_id = params.thread_id.clone();
        ask(&cx, &thread_id, RealtimeRequest::Start(params)).await?;
        Ok(ThreadRealtimeStartResponse {})
    }
}

impl Handler for ThreadRealtimeAppendAudio {
    async fn run(cx: Cx, params: ThreadRealtimeAppendAudioParams) -> Result<Self::Result, Refusal> {
        ask(&cx, &params.thread_id, RealtimeRequest::Audio(params.audio)).await?;
        Ok(ThreadRealtimeAppendAudioResponse {})
    }
}

impl Handler for ThreadRealtimeAppendText {
    async fn run(cx: Cx, params: ThreadRealtimeAppendTextParams) -> Result<Self::Result, Refusal> {
        ask(&cx, &params.thread_id, RealtimeRequest::Text(params.text)).await?;
        Ok(ThreadRealtimeAppendTextResponse {})
    }
}

impl Handler for ThreadRealtimeStop {
    async fn run(cx: Cx, params: ThreadRealtimeStopParams) -> Result<Self::Result, Refusal> {
        ask(&cx, &params.thread_id, RealtimeRequest::Stop).await?;
        Ok(ThreadRealtimeStopResponse {})
    }
}

async fn ask(cx: &Cx, thread_id: &str, request: RealtimeRequest) -> Result<(), Refusal> {
    let thread = threads::loaded(&cx.server, thread_id)?;
    let (done, taken) = oneshot::channel();
    let client = Arc::clone(&cx.client);
    let ask = RealtimeMessage::Ask {
        client,
        request,
        done,
    };
    thread.send(Message::Realtime(ask)).await;
    taken.await.map_err(|_| Refusal::ThreadUnloading)?
}
