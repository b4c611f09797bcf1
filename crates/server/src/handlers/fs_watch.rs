//! `fs/watch`: be notified when a path changes.

use futures_util::FutureExt as _;
use quipu_wire::method::request::FsWatch;
use quipu_wire::{FsWatchParams, FsWatchResponse};
use tokio::runtime::Handle;

use super::Handler;
use crate::{Cx, Refusal, files};

impl Handler for FsWatch {
    async fn run(cx: Cx, params: FsWatchParams) -> Result<Self::Result, Refusal> {
        let runtime = Handle::current();
        let watched = files::run(move || {
            let path = params.path;
            let watches = &cx.server.watches;
            let watch_id = watches.add(&cx.client, path.as_path(), params.watch_id, &runtime)?;
            // The client may have left while this waited, and its watches have been ended before.
            if cx.client.left().now_or_never().is_some() {
                watches.disconnected(cx.client.id);
            }
            Ok(FsWatchResponse { watch_id, path })
        });
        watched.await
    }
}
