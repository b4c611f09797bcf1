//! `command/exec/resize`: another size for a command's terminal.

use quipu_wire::method::request::CommandExecResize;
use quipu_wire::{CommandExecResizeParams, CommandExecResizeResponse};

use super::Handler;
use crate::commands::window_size;
use crate::{Cx, Refusal};

impl Handler for CommandExecResize {
    async fn run(cx: Cx, params: CommandExecResizeParams) -> Result<Self::Result, Refusal> {
        resize(&cx, &params)
    }
}

fn resize(cx: &Cx, params: &CommandExecResizeParams) -> Result<CommandExecResizeResponse, Refusal> {
    let size = window_size(&params.size)?;
    let command = cx.server.commands.get(cx.client.id, &params.process_id)?;
    let failed = |why: String| Refusal::invalid_request(format!("failed to resize PTY: {why}"));
    match command.process.resize(size) {
        Ok(true) => Ok(CommandExecResizeResponse {}),
        Ok(false) => Err(failed("process is not attached to a PTY".to_owned())),
        Err(error) => Err(failed(error.to_string())),
    }
}
