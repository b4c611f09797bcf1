//! `thread/shellCommand`: a command of the user's own.

use quipu_wire::ThreadShellCommandParams;
use quipu_wire::method::request::ThreadShellCommand;

use super::ReplyHandler;
use crate::threads::{self, Verb};
use crate::{Cx, Refusal, Reply};

impl ReplyHandler for ThreadShellCommand {
    /// What cannot be stored is not taken; a record holds a little more than the command.
    const MAX_PARAMS_BYTES: usize = quipu_journal::MAX_RECORD - (64 << 10);

    async fn handle(cx: Cx, params: ThreadShellCommandParams, reply: Reply<Self>) {
        let command = params.command.trim().to_owned();
        if command.is_empty() {
            return reply.send(Err(Refusal::EmptyCommand)).await;
        }
        threads::pass_on(&cx.server, &params.thread_id, reply, |reply| Verb::Shell {
            command,
            reply,
        })
        .await;
    }
}
