//! `fs/readFile`: the whole content of a file.

use quipu_wire::FsReadFileParams;
use quipu_wire::method::request::FsReadFile;
use tokio::runtime::Handle;

use super::ReplyHandler;
use crate::files::Content;
use crate::{Cx, Refusal, Reply};

impl ReplyHandler for FsReadFile {
    async fn handle(_cx: Cx, params: FsReadFileParams, reply: Reply<Self>) {
        let runtime = Handle::current();
        // The answer is written while the file is read, so both happen where blocking is fine.
        let answered =
            tokio::task::spawn_blocking(move || match Content::open(params.path.as_path()) {
                Ok(content) => runtime
                    .block_on(reply.send_with(|out| content.write(out).map_err(Refusal::from))),
                Err(error) => runtime.block_on(reply.send(Err(Refusal::from(error)))),
            });
        if let Err(error) = answered.await {
            tracing::error!(%error, "failed to read file");
        }
    }
}
