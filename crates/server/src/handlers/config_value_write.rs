//! `config/value/write`: one change to the user's settings.

use quipu_config::edit::{Edit, EditError, WriteError, WriteRequest};
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
        let target = (params.file_path, params.expected_version);
        reply.send(write(&cx, &[edit], target).await).await;
    }
}

/// Makes the changes to a file, if it has the expected version.
pub(super) async fn write(
    cx: &Cx,
    edits: &[ConfigEdit],
    (file_path, expected_version): (Option<String>, Option<String>),
) -> Result<ConfigWriteResponse, ErrorObject> {
    let edits: Result<_, EditError> = edits.iter().map(Edit::try_from).collect();
    let request = WriteRequest {
        edits: edits.map_err(|error| refusal(&error.into()))?,
        file_path,
        expected_version,
    };
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
