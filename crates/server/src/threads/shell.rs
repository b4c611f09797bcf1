//! `thread/shellCommand`: a command of the user's own, whose output the model sees.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use quipu_engine::{Input, ItemId, Purpose, ShellStart, ToolEvent, TurnId};
use quipu_tools::{Host, UserShell};
use quipu_wire::ThreadShellCommandResponse;
use quipu_wire::method::request;

use super::actor::Actor;
use super::message::{Message, ToolReport};
use super::tool_host::ThreadHost;
use crate::{Reply, fail};
use quipu_prompt::budget::Budget;
use quipu_prompt::notes;

/// Tokens of a user's own command that the model gets.
const SHELL_BUDGET: usize = 10_000;

impl Actor {
    pub async fn shell(&mut self, command: String, reply: Reply<request::ThreadShellCommand>) {
        if let Err(error) = self.recorder.reserve() {
            return reply.send(Err(error)).await;
        }
        let turn_id = uuid::Uuid::now_v7().to_string().into();
        let item_id = uuid::Uuid::new_v4().to_string();
        let effects = self.engine_step(Input::Shell(ShellStart {
            turn_id,
            item_id: item_id.into(),
            command,
        }));
        reply.send(Ok(ThreadShellCommandResponse {})).await;
        self.perform(effects).await;
    }

    /// Starts a command of the user; its item begins at once, so that it begins before its turn ends.
    pub fn run_shell(&mut self, turn_id: TurnId, item_id: ItemId, command: String) -> Input {
        self.tools.learn_secrets(&self.server, &self.session);
        let scope = Arc::new(self.scope(&turn_id, Purpose::Turn));
        let cancel = self.tools.cancel_for(&turn_id);
        let handle = self.handle.clone();
        let host: Arc<dyn Host> = Arc::new(ThreadHost::new(self, &turn_id));
        let shell = UserShell::new(scope, host, item_id.clone(), command, cancel);
        let started = Input::Tool {
            call_id: item_id.clone().into(),
            event: ToolEvent::ItemStarted(self.tools.mask().item(shell.started())),
        };
        tokio::spawn(async move {
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
                tracing::error!(thread = %handle.id, "user command panicked");
            }
            let event = ToolEvent::Finished {
                output: note.into_iter().collect(),
                end_turn: false,
            };
            handle
                .send(Message::Tool {
                    call_id: item_id.into(),
                    event: ToolReport::Event(event),
                })
                .await;
        });
        started
    }
}
