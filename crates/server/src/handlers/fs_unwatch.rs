//! `fs/unwatch`: be told no more. A watch that is not there is as good as ended.

use quipu_wire::method::request::FsUnwatch;
use quipu_wire::{FsUnwatchParams, FsUnwatchResponse};

use super::Handler;
use crate::{Cx, Reply, files};

impl Handler for FsUnwatch {
    async fn handle(cx: Cx, params: FsUnwatchParams, reply: Reply<Self>) {
        let ended =
            files::run(move || Ok(cx.server.watches.remove(cx.client.id, &params.watch_id))).await;
        let ended = match ended {
            Ok(None) => Ok(()),
            // Nothing may be told after the answer.
            Ok(Some(telling)) => match telling.await {
                Err(error) if error.is_panic() => {
                    tracing::error!(%error, "a watch failed");
                    Ok(())
                }
                _ => Ok(()),
            },
            Err(error) => Err(error),
        };
        reply.send(ended.map(|()| FsUnwatchResponse {})).await;
    }
}
