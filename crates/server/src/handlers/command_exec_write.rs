//! `command/exec/write`: input for a running command.

use quipu_wire::method::request::CommandExecWrite;
use quipu_wire::{CommandExecWriteParams, CommandExecWriteResponse};

use super::Handler;
use crate::commands::{Family, decoded};
use crate::{Cx, Refusal};

impl Handler for CommandExecWrite {
    async fn run(cx: Cx, params: CommandExecWriteParams) -> Result<Self::Result, Refusal> {
        if params.delta_base64.is_none() && !params.close_stdin {
            let text = "command/exec/write requires deltaBase64 or closeStdin";
            return Err(Refusal::invalid_params(text));
        }
        let bytes = decoded(params.delta_base64.as_ref())?;
        let commands = &cx.server.commands;
        let command = commands.get(cx.client.id, Family::Exec, &params.process_id)?;
        command.write(Family::Exec, bytes, params.close_stdin)?;
        Ok(CommandExecWriteResponse {})
    }
}
