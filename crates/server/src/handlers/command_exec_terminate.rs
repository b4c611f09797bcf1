//! `command/exec/terminate`: ends a running command, whose own answer follows.

use quipu_wire::method::request::CommandExecTerminate;
use quipu_wire::{CommandExecTerminateParams, CommandExecTerminateResponse};

use super::ReplyHandler;
use crate::commands::Family;
use crate::{Cx, Reply};

impl ReplyHandler for CommandExecTerminate {
    async fn handle(cx: Cx, params: CommandExecTerminateParams, reply: Reply<Self>) {
        let commands = &cx.server.commands;
        match commands.get(cx.client.id, Family::Exec, &params.process_id) {
            Ok(command) => {
                reply.send(Ok(CommandExecTerminateResponse {})).await;
                command.process.kill();
            }
            Err(error) => reply.send(Err(error)).await,
        }
    }
}
