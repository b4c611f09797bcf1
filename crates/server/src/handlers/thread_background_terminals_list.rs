//! `thread/backgroundTerminals/list` and `thread/backgroundTerminals/terminate`: commands that outlived their call.

use quipu_wire::method::request::{
    ThreadBackgroundTerminalsList, ThreadBackgroundTerminalsTerminate,
};
use quipu_wire::{
    ThreadBackgroundTerminalsListParams, ThreadBackgroundTerminalsListResponse,
    ThreadBackgroundTerminalsTerminateParams, ThreadBackgroundTerminalsTerminateResponse,
};
use tokio::sync::oneshot;

use super::Handler;
use crate::paging::page;
use crate::threads::{self, Message};
use crate::{Cx, Refusal};

impl Handler for ThreadBackgroundTerminalsList {
    async fn run(
        cx: Cx,
        params: ThreadBackgroundTerminalsListParams,
    ) -> Result<Self::Result, Refusal> {
        let thread = threads::loaded(&cx.server, &params.thread_id)?;
        let (done, listed) = oneshot::channel();
        thread.send(Message::ListTerminals { done }).await;
        let all = listed.await.map_err(|_| Refusal::ThreadUnloading)?;
        let page = page(all, params.cursor.as_deref(), params.limit, "terminals")?;
        Ok(ThreadBackgroundTerminalsListResponse {
            data: page.data,
            next_cursor: page.next_cursor,
        })
    }
}

impl Handler for ThreadBackgroundTerminalsTerminate {
    async fn run(
        cx: Cx,
        params: ThreadBackgroundTerminalsTerminateParams,
    ) -> Result<Self::Result, Refusal> {
        let thread = threads::loaded(&cx.server, &params.thread_id)?;
        let number = params.process_id.parse::<i32>();
        number.map_err(|error| {
            let text = format!("invalid background terminal process id: {error}");
            Refusal::invalid_request(text)
        })?;
        let (done, ended) = oneshot::channel();
        let process_id = params.process_id;
        let terminate = Message::TerminateTerminal { process_id, done };
        thread.send(terminate).await;
        let terminated = ended.await.map_err(|_| Refusal::ThreadUnloading)?;
        Ok(ThreadBackgroundTerminalsTerminateResponse { terminated })
    }
}
