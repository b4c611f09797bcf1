//! `thread/shellCommand`: a command of the user's own, whose output the model sees.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use quipu_engine::{Input, ItemId, Purpose, ShellStart, ToolEvent, TurnId};
use quipu_tools::{Host, UserShell};
use quipu_wire::ThreadShellCommandResponse;
use quipu_wire::method::request;

use super::actor::Actor;
use super::message::{Message, ThreadHandle, ToolReport};
use super::tool_host::ThreadHost;
use crate::{Reply, fail};
use quipu_prompt::budget::Budget;
use quipu_prompt::notes;

/// Tokens of a user's own command that the model gets.
const SHELL_BUDGET: usize = 10_000;

pub(super) async fn start(
    actor: &mut Actor,
    command: String,
    reply: Reply<request::ThreadShellCommand>,
) {
    if let Err(error) = actor.recorder.reserve() {
        return reply.send(Err(error)).await;
    }
    let turn_id = uuid::Uuid::now_v7().to_string().into();
    let item_id = uuid::Uuid::new_v4().to_string();
    let effects = actor.engine_step(Input::Shell(ShellStart {
        turn_id,
        item_id: item_id.into(),
        command,
    }));
    reply.send(Ok(ThreadShellCommandResponse {})).await;
    actor.perform(effects).await;
}

/// Starts a command of the user; its item begins at once, so that it begins before its turn ends.
pub(super) fn run(actor: &mut Actor, turn_id: TurnId, item_id: ItemId, command: String) -> Input {
    actor.tools.learn_secrets(&actor.server, &actor.session);
    let scope = Arc::new(actor.scope(&turn_id, Purpose::Turn));
    let cancel = actor.tools.cancel_for(&turn_id);
    let host: Arc<dyn Host> = Arc::new(ThreadHost::new(actor, &turn_id));
    let shell = UserShell::new(scope, host, item_id.clone(), command, cancel);
    let started = Input::Tool {
        call_id: item_id.clone().into(),
        event: ToolEvent::ItemStarted(actor.tools.mask().item(shell.started())),
    };
    tokio::spawn(report(actor.handle.clone(), item_id, shell));
    started
}

/// Runs a command of the user, and notes for the model what came of it.
async fn report(thread: ThreadHandle, item_id: ItemId, shell: UserShell) {
    let running = async {
        fail::point("tool", "thread/shellCommand");
        let run = shell.run().await;
        let record = notes::UserShellCommand {
            command: &run.command,
            exit_code: run.exit_code,
            duration: run.elapsed,
            output: &run.output,
        };
        notes::user_shell_command(&record, Budget::Tokens(SHELL_BUDGET))
    };
    let note = AssertUnwindSafe(running).catch_unwind().await;
    if note.is_err() {
        tracing::error!(thread = %thread.id, "user command panicked");
    }
    let event = ToolEvent::Finished {
        output: note.into_iter().collect(),
        end_turn: false,
    };
    thread
        .send(Message::Tool {
            call_id: item_id.into(),
            event: ToolReport::Event(event),
        })
        .await;
}
