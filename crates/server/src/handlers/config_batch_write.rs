//! `config/batchWrite`: several changes to the user's settings, all or none.

use quipu_wire::ConfigBatchWriteParams;
use quipu_wire::method::request::ConfigBatchWrite;

use super::Handler;
use super::config_value_write::write;
use crate::{Cx, Refusal};

impl Handler for ConfigBatchWrite {
    async fn run(cx: Cx, params: ConfigBatchWriteParams) -> Result<Self::Result, Refusal> {
        let target = (params.file_path, params.expected_version);
        let written = write(&cx, &params.edits, target).await;
        if written.is_ok() && params.reload_user_config {
            cx.server.threads.reload_settings().await;
        }
        written
    }
}
