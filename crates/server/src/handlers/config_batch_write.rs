//! `config/batchWrite`: several changes to the user's settings, all or none.

use quipu_config::edit::{Edit, WriteRequest};
use quipu_wire::ConfigBatchWriteParams;
use quipu_wire::method::request::ConfigBatchWrite;

use super::Handler;
use super::config_value_write::write;
use crate::{Cx, Reply};

impl Handler for ConfigBatchWrite {
    async fn handle(cx: Cx, params: ConfigBatchWriteParams, reply: Reply<Self>) {
        let request = WriteRequest {
            edits: params.edits.iter().map(Edit::from).collect(),
            file_path: params.file_path,
            expected_version: params.expected_version,
        };
        let written = write(&cx, request).await;
        if written.is_ok() && params.reload_user_config {
            cx.server.threads.reload_settings().await;
        }
        reply.send(written).await;
    }
}
