//! `fs/unwatch`: no more notifications. A watch that is not there is as good as ended.

use quipu_wire::method::request::FsUnwatch;
use quipu_wire::{FsUnwatchParams, FsUnwatchResponse};

use super::Handler;
use crate::{Cx, Refusal, files};

impl Handler for FsUnwatch {
    async fn run(cx: Cx, params: FsUnwatchParams) -> Result<Self::Result, Refusal> {
        let ended =
            files::run(move || Ok(cx.server.watches.remove(cx.client.id, &params.watch_id))).await;
        if let Ok(Some(notifier)) = ended {
            // Nothing may be reported after the answer. The task was aborted, so it ends with an error.
            notifier.await.ok();
        }
        Ok(FsUnwatchResponse {})
    }
}
