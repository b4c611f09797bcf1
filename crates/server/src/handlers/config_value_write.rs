//! `config/value/write`: one change to the user's settings.

use quipu_config::edit::{Edit, EditError, WriteError, WriteRequest};
use quipu_wire::method::request::ConfigValueWrite;
use quipu_wire::{ConfigEdit, ConfigValueWriteParams, ConfigWriteResponse};

use super::Handler;
use crate::blocking::blocking;
use crate::{Cx, Refusal};

impl Handler for ConfigValueWrite {
    async fn run(cx: Cx, params: ConfigValueWriteParams) -> Result<Self::Result, Refusal> {
        let edit = ConfigEdit {
            key_path: params.key_path,
            value: params.value,
            merge_strategy: params.merge_strategy,
        };
        let target = (params.file_path, params.expected_version);
        write(&cx, &[edit], target).await
    }
}

/// Makes the changes to a file, if it has the expected version.
pub(super) async fn write(
    cx: &Cx,
    edits: &[ConfigEdit],
    (file_path, expected_version): (Option<String>, Option<String>),
) -> Result<ConfigWriteResponse, Refusal> {
    for edit in edits {
        cx.client.words.note_json(&edit.key_path, &edit.value);
    }
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

fn refusal(error: &WriteError) -> Refusal {
    match error.code() {
        Some(code) => Refusal::ConfigWrite {
            text: error.to_string(),
            code,
        },
        None => Refusal::internal(error.to_string()),
    }
}
