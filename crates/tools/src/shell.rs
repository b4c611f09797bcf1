//! `shell`: a program with its arguments. `container.exec` is another name that models know it by.

use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::call::{Finished, Running};
use crate::command_arguments::{command_schema, waited_arguments};
use crate::run_command::{aborted, run_command};
use crate::scope::{Scope, ShellTool};
use crate::spec::Spec;
use crate::tool::{Parallel, Reach, Tool};

waited_arguments!(Arguments { command: Vec<String> }
    required {
        command: "The program and its arguments. A script needs a shell: `[\"bash\", \"-lc\", SCRIPT]`.",
    }
    optional {}
);

pub(crate) struct Shell;

impl Tool for Shell {
    fn name(&self) -> &'static str {
        "shell"
    }

    fn parallel(&self) -> Parallel {
        Parallel::Shared
    }

    fn reach(&self) -> Reach {
        Reach::Command
    }

    fn spec(&self, scope: &Scope) -> Option<Spec> {
        let description = "Runs a program, waits for its end and returns its output.";
        (scope.shell_tool == ShellTool::Words).then(|| {
            let schema = command_schema::<Arguments>(scope.features);
            Spec::with_schema(self.name(), description, schema)
        })
    }

    fn accepts(&self, run: &Running) -> bool {
        run.is_function()
    }

    fn run<'a>(&'a self, run: &'a Running) -> BoxFuture<'a, Finished> {
        Box::pin(shell(run))
    }

    fn aborted(&self, after: Duration) -> String {
        aborted(after)
    }
}

pub(crate) struct ContainerExec;

impl Tool for ContainerExec {
    fn name(&self) -> &'static str {
        "container.exec"
    }

    fn parallel(&self) -> Parallel {
        Parallel::Shared
    }

    fn reach(&self) -> Reach {
        Reach::Command
    }

    fn spec(&self, _scope: &Scope) -> Option<Spec> {
        None
    }

    fn accepts(&self, run: &Running) -> bool {
        run.is_function()
    }

    fn run<'a>(&'a self, run: &'a Running) -> BoxFuture<'a, Finished> {
        Box::pin(shell(run))
    }

    fn aborted(&self, after: Duration) -> String {
        aborted(after)
    }
}

pub(crate) async fn shell(run: &Running) -> Finished {
    match run.arguments().map(Arguments::split) {
        Ok((command, common)) => run_command(run, command, common).await,
        Err(error) => error.into(),
    }
}
