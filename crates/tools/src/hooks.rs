//! The user's hooks around a command: one before it can forbid it, one after it can say something else to
//! the model than the command did.

use std::time::Instant;

use quipu_engine::CallKind;
use quipu_policy::command_line::display;
use quipu_wire::Json;
use serde::Deserialize;

use crate::call::{Finished, Output, Running};
use crate::tool::Reach;
use crate::toolbox::dispatch;

/// What hooks want together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Advice {
    /// What the model is to know.
    pub context: Vec<Json>,
    /// Why the command may not run, or what the model reads instead of its output.
    pub message: Option<String>,
}

/// Runs a call between the hooks before and after it, if it runs a command.
pub(crate) async fn around(run: &Running) -> Finished {
    let Some(command) = command(run) else {
        return dispatch(run).await;
    };
    let begun = Instant::now();
    let Some(before) = advice(run, &command, None).await else {
        return run.aborted(begun.elapsed()).into();
    };
    if let Some(reason) = before.message {
        return format!("Command blocked by PreToolUse hook: {reason}. Command: {command}").into();
    }
    let mut finished = dispatch(run).await;
    let Some(response) = finished.response.take() else {
        return finished;
    };
    let Some(after) = advice(run, &command, Some(&response)).await else {
        return run.aborted(begun.elapsed()).into();
    };
    finished.context = after.context;
    if let Some(message) = after.message {
        finished.output = Output::Text(message);
    }
    finished
}

/// What the hooks want; `None` if the turn was interrupted meanwhile.
async fn advice(run: &Running, command: &str, response: Option<&str>) -> Option<Advice> {
    tokio::select! {
        advice = run.host.hook(run.id(), command, response) => Some(advice),
        () = run.cancel.cancelled() => None,
    }
}

/// The command of a call, as its hooks see it.
fn command(run: &Running) -> Option<String> {
    #[derive(Deserialize)]
    struct Call {
        action: Arguments,
    }
    #[derive(Deserialize)]
    struct Arguments {
        #[serde(alias = "cmd")]
        command: Words,
    }
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Words {
        Script(String),
        Argv(Vec<String>),
    }
    run.tool.filter(|tool| tool.reach() == Reach::Command)?;
    let arguments: Arguments = match &run.call.kind {
        CallKind::LocalShell(call) => call.parse::<Call>().ok()?.action,
        CallKind::Function(_) => run.arguments().ok()?,
        CallKind::Custom(_) | CallKind::ToolSearch(_) => return None,
    };
    Some(match arguments.command {
        Words::Script(script) => script,
        Words::Argv(argv) => display(&argv),
    })
}
