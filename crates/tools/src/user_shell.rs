//! The user's own command, run beside the agent and outside its sandbox.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use quipu_engine::{CallKind, ItemId, ToolCall};
use quipu_policy::actions::command_actions;
use quipu_policy::command_line::display;
use quipu_sandbox::{Command, Policy};
use quipu_wire::{CommandExecutionSource, CommandExecutionStatus, ThreadItem};

use crate::call::Running;
use crate::host::Host;
use crate::process::{self, Deltas, Shown};
use crate::run_command::shell_argv;
use crate::scope::Scope;
use crate::shell::Shell;
use crate::tool::Tool as _;
use crate::toolbox::Cancel;

/// How long such a command may take.
const LIMIT: Duration = Duration::from_secs(3600);

/// What a command of the user did.
#[derive(Debug, Clone, PartialEq)]
pub struct ShellRun {
    pub command: String,
    pub exit_code: i32,
    pub elapsed: Duration,
    pub output: String,
}

/// A command of the user, to be run in their shell.
pub struct UserShell {
    run: Running,
    argv: Vec<String>,
    shown: Shown,
    command: String,
}

impl UserShell {
    pub fn new(
        scope: Arc<Scope>,
        host: Arc<dyn Host>,
        item_id: ItemId,
        command: String,
        cancel: Cancel,
    ) -> UserShell {
        let argv = shell_argv(&scope.shell, true, &command);
        let shown = Shown {
            id: item_id.clone().into(),
            command: display(&argv),
            cwd: scope.cwd.to_string_lossy().into_owned(),
            process_id: None,
            source: CommandExecutionSource::UserShell,
            actions: command_actions(&argv),
        };
        let call = ToolCall {
            call_id: item_id.into(),
            name: Shell.name().to_owned(),
            namespace: None,
            kind: CallKind::Function(String::new()),
        };
        let run = Running {
            scope,
            host,
            tool: Some(&Shell),
            call: Arc::new(call),
            cancel,
            ends_turn: Arc::default(),
            given_up: Arc::default(),
        };
        UserShell {
            run,
            argv,
            shown,
            command,
        }
    }

    /// Its item at the start, which the caller reports: the turn may end before the command runs.
    pub fn started(&self) -> ThreadItem {
        self.shown.started()
    }

    /// Runs the command and reports everything but its start.
    pub async fn run(self) -> ShellRun {
        let UserShell {
            run,
            argv,
            shown,
            command,
        } = self;
        run_shown(run, argv, shown, command).await
    }
}

/// Runs the command of an item.
async fn run_shown(run: Running, argv: Vec<String>, shown: Shown, command: String) -> ShellRun {
    let cwd: PathBuf = run.scope.cwd.clone();
    let mut started = Command::new(&argv, cwd, Policy::FullAccess);
    started.env = run
        .scope
        .env
        .iter()
        .map(|(key, value)| (key.into(), value.into()))
        .collect();
    let spawned = match quipu_sandbox::spawn(started).await {
        Ok(spawned) => spawned,
        Err(error) => {
            let text = error.to_string();
            run.completed(shown.refused(CommandExecutionStatus::Failed, Some(&text)))
                .await;
            return ShellRun {
                command,
                exit_code: -1,
                elapsed: Duration::ZERO,
                output: text,
            };
        }
    };
    let mut deltas = Deltas::new(run.clone());
    let done = process::wait(&run, spawned, LIMIT, &mut deltas).await;
    if done.cancelled {
        let text = "command aborted by user";
        run.completed(shown.refused(CommandExecutionStatus::Failed, Some(text)))
            .await;
        return ShellRun {
            command,
            exit_code: -1,
            elapsed: done.elapsed,
            output: text.to_owned(),
        };
    }
    let output = String::from_utf8_lossy(&done.all).into_owned();
    run.completed(shown.ended(done.exit_code, output.clone(), done.elapsed))
        .await;
    ShellRun {
        command,
        exit_code: done.exit_code,
        elapsed: done.elapsed,
        output,
    }
}
