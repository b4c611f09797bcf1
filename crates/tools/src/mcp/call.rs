//! One call of an MCP server's tool, from the model's arguments to its output.

use std::time::Instant;

use quipu_engine::{CallKind, ToolDelta};
use quipu_mcp::{CallEvent, CallResult, OfferedTool, ToolCall};
use quipu_wire::{Json, McpToolCallResult, SandboxPolicy, TooDeep};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{Shown, approval, elicitation, millis, output};
use crate::call::{ABORTED, Finished, Running};

/// What may happen in a call before somebody looks.
const EVENTS: usize = 32;

/// Whether a name is that of a tool of some server, be it known or not.
pub(crate) fn is_mcp_tool(name: &str) -> bool {
    name.starts_with("mcp__")
}

/// Runs a call to its end. What goes wrong is output for the model.
pub(crate) async fn call(run: &Running) -> Finished {
    let Some(offered) = run.scope.mcp.fleet.tool(&run.call.name) else {
        return run.unsupported();
    };
    let arguments = match arguments(run) {
        Ok(arguments) => arguments,
        Err(error) => return output::failure(&format!("err: {error}")),
    };
    let shown = Shown {
        id: run.id(),
        server: &offered.server,
        tool: &offered.tool.name,
        arguments: arguments.as_ref(),
    };
    run.started(shown.started()).await;
    let begun = Instant::now();
    let outcome = match approval::approve(run, &offered, arguments.as_ref()).await {
        Ok(()) => perform(run, &offered, arguments.as_ref()).await,
        Err(refusal) => Err(refusal),
    };
    match outcome.and_then(|result| Ok((shown_result(&result)?, result))) {
        Ok((shown_result, result)) => {
            let is_error = result.is_error == Some(true);
            let item = shown.succeeded(shown_result, is_error, millis(begun));
            run.completed(item).await;
            output::success(&result, run.scope.accepts_images)
        }
        Err(message) => {
            run.completed(shown.failed(&message, millis(begun))).await;
            output::failure(&message)
        }
    }
}

/// The result as clients see it; the error is for the model.
fn shown_result(result: &CallResult) -> Result<McpToolCallResult, String> {
    let content = result.content.iter().cloned().map(Json::try_from);
    let structured = result.structured_content.clone().map(Json::try_from);
    let refused = |error: TooDeep| format!("the result of the tool cannot be used: {error}");
    Ok(McpToolCallResult {
        content: content.collect::<Result<_, _>>().map_err(refused)?,
        structured_content: structured.transpose().map_err(refused)?,
    })
}

/// The model's arguments; none if it wrote nothing.
fn arguments(run: &Running) -> Result<Option<Json>, serde_json::Error> {
    let CallKind::Function(text) = &run.call.kind else {
        return Ok(None);
    };
    match text.trim() {
        "" => Ok(None),
        text => serde_json::from_str(text).map(Some),
    }
}

/// Calls the tool; the error is what the user and the model are told.
async fn perform(
    run: &Running,
    offered: &OfferedTool,
    arguments: Option<&Json>,
) -> Result<CallResult, String> {
    let (server, tool) = (&offered.server, &offered.tool.name);
    let failed = |cause: String| {
        format!(
            "tool call error: tool call failed for `{server}/{tool}`\n\nCaused by:\n    {cause}"
        )
    };
    let raw = arguments.map(|it| RawValue::from_string(it.get().to_owned()));
    let raw = raw.transpose().map_err(|error| failed(error.to_string()))?;
    if let Some(raw) = raw.as_ref().filter(|it| !it.get().starts_with('{')) {
        let text = format!("MCP tool arguments must be a JSON object, got {raw}");
        return Err(failed(text));
    }
    let client = tokio::select! {
        client = run.scope.mcp.fleet.client(server) => client,
        () = run.cancel.cancelled() => return Err(ABORTED.to_owned()),
    };
    let client = client.map_err(|error| failed(error.to_string()))?;
    let (events, mut happened) = mpsc::channel(EVENTS);
    let call = client.call_tool(ToolCall {
        name: tool,
        arguments: raw.as_deref(),
        meta: meta(run, offered),
        events,
    });
    tokio::pin!(call);
    loop {
        tokio::select! {
            biased;
            () = run.cancel.cancelled() => return Err(ABORTED.to_owned()),
            Some(event) = happened.recv() => attend(run, server, event).await,
            result = &mut call => return result.map_err(|error| failed(error.to_string())),
        }
    }
}

async fn attend(run: &Running, server: &str, event: CallEvent) {
    match event {
        CallEvent::Progress(message) => run.delta(ToolDelta::McpProgress(message)).await,
        CallEvent::Elicit(question) => {
            let (run, server) = (run.clone(), server.to_owned());
            // The call goes on while the user thinks. If it ends first, the question is withdrawn.
            tokio::spawn(async move {
                let reaction = elicitation::ask(&run, &server, question.elicitation).await;
                // A server that is gone needs no answer.
                question.reaction.send(reaction).ok();
            });
        }
    }
}

/// What a server learns beside the arguments. An app gets back what it said about the tool to those who know it.
fn meta(run: &Running, offered: &OfferedTool) -> Vec<(String, Value)> {
    const OF_APP: &str = "_codex_apps";
    let turn = ("x-codex-turn-metadata".to_owned(), turn_metadata(run));
    let own = offered
        .tool
        .meta
        .as_ref()
        .filter(|_| offered.connector.is_some());
    let own = own.and_then(|meta| serde_json::from_str::<Value>(meta.get()).ok());
    let own = own.and_then(|meta| meta.get(OF_APP).cloned());
    let own = own.map(|own| (OF_APP.to_owned(), own));
    let trace = run.scope.traceparent.as_deref();
    let trace = trace.map(|it| ("traceparent".to_owned(), it.into()));
    std::iter::once(turn).chain(own).chain(trace).collect()
}

/// What a server is told about the turn.
fn turn_metadata(run: &Running) -> Value {
    let sandbox = match run.scope.sandbox {
        SandboxPolicy::DangerFullAccess => "none",
        SandboxPolicy::ExternalSandbox { .. } => "external",
        _ if cfg!(target_os = "linux") => "seccomp",
        _ => "none",
    };
    json!({ "session_id": run.scope.thread_id.as_str(), "turn_id": run.scope.turn_id.as_str(), "sandbox": sandbox })
}
