//! `command/exec/resize`: another size for a command's terminal.

use quipu_rpc::ErrorObject;
use quipu_wire::method::request::CommandExecResize;
use quipu_wire::{CommandExecResizeParams, CommandExecResizeResponse};

use super::Handler;
use crate::commands::window_size;
use crate::{Cx, Reply};

impl Handler for CommandExecResize {
    async fn handle(cx: Cx, params: CommandExecResizeParams, reply: Reply<Self>) {
        reply.send(resize(&cx, &params)).await;
    }
}

fn resize(
    cx: &Cx,
    params: &CommandExecResizeParams,
) -> Result<CommandExecResizeResponse, ErrorObject> {
    let size = window_size(&params.size)?;
    let command = cx.server.commands.get(cx.client.id, &params.process_id)?;
    let failed = |why: String| ErrorObject::invalid_request(format!("failed to resize PTY: {why}"));
    match command.process.resize(size) {
        Ok(true) => Ok(CommandExecResizeResponse {}),
        Ok(false) => Err(failed("process is not attached to a PTY".to_owned())),
        Err(error) => Err(failed(error.to_string())),
    }
}
