//! `command/exec/write`: input for a running command.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quipu_wire::method::request::CommandExecWrite;
use quipu_wire::{CommandExecWriteParams, CommandExecWriteResponse};

use super::Handler;
use crate::commands::WriteError;
use crate::{Cx, Refusal};

impl Handler for CommandExecWrite {
    async fn run(cx: Cx, params: CommandExecWriteParams) -> Result<Self::Result, Refusal> {
        write(&cx, &params)
    }
}

fn write(cx: &Cx, params: &CommandExecWriteParams) -> Result<CommandExecWriteResponse, Refusal> {
    if params.delta_base64.is_none() && !params.close_stdin {
        return Err(Refusal::invalid_params(
            "command/exec/write requires deltaBase64 or closeStdin",
        ));
    }
    let bytes = params.delta_base64.as_ref().map(|text| {
        STANDARD
            .decode(text)
            .map_err(|error| Refusal::invalid_params(format!("invalid deltaBase64: {error}")))
    });
    let bytes = bytes.transpose()?;
    let command = cx.server.commands.get(cx.client.id, &params.process_id)?;
    match command.stdin.write(bytes, params.close_stdin) {
        Ok(()) => Ok(CommandExecWriteResponse {}),
        Err(WriteError::NotStreamed) => Err(Refusal::invalid_request(
            "stdin streaming is not enabled for this command/exec",
        )),
        Err(WriteError::Closed) => Err(Refusal::invalid_request("stdin is already closed")),
        Err(WriteError::Full) => Err(Refusal::NoRoom(
            "the command does not read its input; retry later".to_owned(),
        )),
    }
}
