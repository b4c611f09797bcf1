//! `command/exec/resize`: another size for a command's terminal.

use quipu_wire::method::request::CommandExecResize;
use quipu_wire::{CommandExecResizeParams, CommandExecResizeResponse};

use super::Handler;
use crate::commands::{Family, window_size};
use crate::{Cx, Refusal};

impl Handler for CommandExecResize {
    async fn run(cx: Cx, params: CommandExecResizeParams) -> Result<Self::Result, Refusal> {
        let size = window_size("command/exec", params.size.rows, params.size.cols)?;
        let commands = &cx.server.commands;
        let command = commands.get(cx.client.id, Family::Exec, &params.process_id)?;
        command.resize(size)?;
        Ok(CommandExecResizeResponse {})
    }
}
