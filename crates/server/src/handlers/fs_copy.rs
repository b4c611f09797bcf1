//! `fs/copy`: a file, a link or a tree, somewhere else too.

use quipu_wire::method::request::FsCopy;
use quipu_wire::{FsCopyParams, FsCopyResponse};

use super::Handler;
use crate::{Cx, Refusal, files};

impl Handler for FsCopy {
    async fn run(_cx: Cx, params: FsCopyParams) -> Result<Self::Result, Refusal> {
        let copied = files::run(move || {
            let (source, destination) = (&params.source_path, &params.destination_path);
            files::copy(source.as_path(), destination.as_path(), params.recursive)?;
            Ok(FsCopyResponse {})
        });
        copied.await
    }
}
