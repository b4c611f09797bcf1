//! `shell_command`: a script for the user's shell.

use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::call::{Finished, Running};
use crate::command_arguments::{LOGIN, command_schema, waited_arguments};
use crate::run_command::{aborted, run_command, script_argv};
use crate::scope::{Scope, ShellTool};
use crate::spec::Spec;
use crate::tool::{Parallel, Reach, ReportStyle, Tool};

waited_arguments!(Arguments { command: String, login: Option<bool> }
    required { command: "The shell script to run." }
    optional { login: LOGIN }
);

pub(crate) struct ShellCommand;

impl Tool for ShellCommand {
    fn name(&self) -> &'static str {
        "shell_command"
    }

    fn parallel(&self) -> Parallel {
        Parallel::Shared
    }

    fn reach(&self) -> Reach {
        Reach::Command
    }

    fn spec(&self, scope: &Scope) -> Option<Spec> {
        let description =
            "Runs a script in the user's shell, waits for its end and returns its output.";
        (scope.shell_tool == ShellTool::Script).then(|| {
            let schema = command_schema::<Arguments>(scope.features);
            Spec::with_schema(self.name(), description, schema)
        })
    }

    fn accepts(&self, run: &Running) -> bool {
        run.is_function()
    }

    fn run<'a>(&'a self, run: &'a Running) -> BoxFuture<'a, Finished> {
        Box::pin(shell_command(run))
    }

    fn report_style(&self, _scope: &Scope) -> ReportStyle {
        ReportStyle::Script
    }

    fn aborted(&self, after: Duration) -> String {
        aborted(after)
    }
}

async fn shell_command(run: &Running) -> Finished {
    let (command, login, common) = match run.arguments().map(Arguments::split) {
        Ok(arguments) => arguments,
        Err(error) => return error.into(),
    };
    match script_argv(run, &command, login, None) {
        Ok(argv) => run_command(run, argv, common).await,
        Err(error) => error.into(),
    }
}
