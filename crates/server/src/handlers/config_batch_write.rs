//! `config/batchWrite`: several changes to the user's settings, all or none.

use quipu_wire::ConfigBatchWriteParams;
use quipu_wire::method::request::ConfigBatchWrite;

use super::Handler;
use super::config_value_write::write;
use crate::{Cx, Reply};

impl Handler for ConfigBatchWrite {
    async fn handle(cx: Cx, params: ConfigBatchWriteParams, reply: Reply<Self>) {
        let target = (params.file_path, params.expected_version);
        let written = write(&cx, &params.edits, target).await;
        if written.is_ok() && params.reload_user_config {
            cx.server.threads.reload_settings().await;
        }
        reply.send(written).await;
    }
}
