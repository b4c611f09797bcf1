//! `fs/copy`: a file, a link or a tree, somewhere else too.

use quipu_wire::method::request::FsCopy;
use quipu_wire::{FsCopyParams, FsCopyResponse};

use super::Handler;
use crate::{Cx, Reply, files};

impl Handler for FsCopy {
    async fn handle(_cx: Cx, params: FsCopyParams, reply: Reply<Self>) {
        let copied = files::run(move || {
            let (source, destination) = (&params.source_path, &params.destination_path);
            files::copy(source.as_path(), destination.as_path(), params.recursive)?;
            Ok(FsCopyResponse {})
        });
        reply.send(copied.await).await;
    }
}
