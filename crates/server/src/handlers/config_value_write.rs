//! `config/value/write`: one change to the user's settings.

use quipu_config::edit::{Edit, WriteError, WriteRequest};
use quipu_rpc::ErrorObject;
use quipu_wire::method::request::ConfigValueWrite;
use quipu_wire::{ConfigEdit, ConfigValueWriteParams, ConfigWriteResponse};
use serde_json::json;

use super::Handler;
use crate::blocking::blocking;
use crate::{Cx, Reply};

impl Handler for ConfigValueWrite {
    async fn handle(cx: Cx, params: ConfigValueWriteParams, reply: Reply<Self>) {
        let edit = ConfigEdit {
            key_path: params.key_path,
            value: params.value,
            merge_strategy: params.merge_strategy,
        };
        let request = WriteRequest {
            edits: vec![Edit::from(&edit)],
            file_path: params.file_path,
            expected_version: params.expected_version,
        };
        reply.send(write(&cx, request).await).await;
    }
}

/// Makes the changes and forgets what was derived from the settings before.
pub(super) async fn write(
    cx: &Cx,
    request: WriteRequest,
) -> Result<ConfigWriteResponse, ErrorObject> {
    let written = blocking(&cx.server, move |server| {
        server.settings.config.write(&request)
    });
    written.await?.map_err(|error| refusal(&error))
}

fn refusal(error: &WriteError) -> ErrorObject {
    match error.code() {
        Some(code) => ErrorObject::invalid_request(error.to_string())
            .with_data(json!({ "config_write_error_code": code })),
        None => ErrorObject::internal(error.to_string()),
    }
}
