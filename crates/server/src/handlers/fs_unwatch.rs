//! `fs/unwatch`: be told no more. A watch that is not there is as good as ended.

use quipu_wire::method::request::FsUnwatch;
use quipu_wire::{FsUnwatchParams, FsUnwatchResponse};

use super::Handler;
use crate::{Cx, Reply, files};

impl Handler for FsUnwatch {
    async fn handle(cx: Cx, params: FsUnwatchParams, reply: Reply<Self>) {
        let ended =
            files::run(move || Ok(cx.server.watches.remove(cx.client.id, &params.watch_id))).await;
        if let Ok(Some(telling)) = ended {
            // Nothing may be told after the answer. The task was aborted, so it ends with an error.
            telling.await.ok();
        }
        reply.send(Ok(FsUnwatchResponse {})).await;
    }
}
