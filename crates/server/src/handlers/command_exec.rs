//! `command/exec`: runs a command outside any thread and answers when it has ended.

use quipu_wire::method::request::CommandExec;
use quipu_wire::{CommandExecParams, CommandExecResponse};

use super::ReplyHandler;
use crate::commands::{Plan, Run};
use crate::lanes::run_free;
use crate::{Cx, Refusal, Reply};

impl ReplyHandler for CommandExec {
    async fn handle(cx: Cx, params: CommandExecParams, reply: Reply<Self>) {
        match start(cx, params).await {
            // Later requests can name the command now; they do not wait for its end.
            Ok(run) => run_free(Box::pin(async {
                let ended = run.finish().await;
                let answer = CommandExecResponse {
                    exit_code: ended.exit_code,
                    stdout: ended.stdout,
                    stderr: ended.stderr,
                };
                reply.send(Ok(answer)).await;
            })),
            Err(error) => reply.send(Err(error)).await,
        }
    }
}

async fn start(cx: Cx, params: CommandExecParams) -> Result<Run, Refusal> {
    let plan = Plan::new(&cx, params)?;
    Run::start(cx, plan).await
}
