//! `local_shell`: a program that the provider's own shell tool asks for.

use std::time::Duration;

use futures_util::future::BoxFuture;
use quipu_engine::CallKind;
use quipu_wire::Json;
use serde::Deserialize;
use serde_json::json;

use crate::call::{Finished, Running};
use crate::run_command::{Common, aborted, run_command};
use crate::scope::{Scope, ShellTool};
use crate::shell::shell;
use crate::spec::Spec;
use crate::tool::{Parallel, Reach, Tool};

#[derive(Deserialize)]
struct Call {
    action: Action,
}

#[derive(Deserialize)]
struct Action {
    command: Vec<String>,
    timeout_ms: Option<u64>,
    working_directory: Option<String>,
}

pub(crate) struct LocalShell;

impl Tool for LocalShell {
    fn name(&self) -> &'static str {
        "local_shell"
    }

    fn parallel(&self) -> Parallel {
        Parallel::Shared
    }

    fn reach(&self) -> Reach {
        Reach::Command
    }

    fn spec(&self, scope: &Scope) -> Option<Spec> {
        let tool = json!({ "type": "local_shell" });
        (scope.shell_tool == ShellTool::Hosted).then(|| Spec::hosted(self.name(), tool.into()))
    }

    fn accepts(&self, run: &Running) -> bool {
        run.is_function() || matches!(run.call.kind, CallKind::LocalShell(_))
    }

    fn run<'a>(&'a self, run: &'a Running) -> BoxFuture<'a, Finished> {
        match &run.call.kind {
            CallKind::LocalShell(call) => Box::pin(local_shell(run, call)),
            _ => Box::pin(shell(run)),
        }
    }

    fn aborted(&self, after: Duration) -> String {
        aborted(after)
    }
}

async fn local_shell(run: &Running, call: &Json) -> Finished {
    let Call { action } = match call.parse() {
        Ok(call) => call,
        Err(error) => return format!("failed to parse function arguments: {error}").into(),
    };
    let common = Common {
        workdir: action.working_directory,
        timeout_ms: action.timeout_ms,
        ..Common::default()
    };
    run_command(run, action.command, common).await
}
