//! `thread/start`: a new thread, which the caller follows.

use std::convert::identity;

use quipu_wire::method::event;
use quipu_wire::method::request::ThreadStart;
use quipu_wire::{
    DynamicToolSpec, ThreadStartParams, ThreadStartResponse, ThreadStartedNotification,
};
use serde_json::Value;

use super::ReplyHandler;
use crate::blocking::blocking;
use crate::threads::{Opened, Overrides, StartRequest, load};
use crate::words::Words;
use crate::{Cx, Refusal, Reply, cloud};

/// Deeper than this, a schema is not looked at.
const MAX_SCHEMA_DEPTH: usize = 32;

impl ReplyHandler for ThreadStart {
    async fn handle(cx: Cx, params: ThreadStartParams, reply: Reply<Self>) {
        cloud::ready(&cx.server).await;
        cx.client.words.note(params.approval_policy.as_ref(), None);
        cx.client.words.note_config(params.config.as_ref());
        let opening = cx.clone();
        let opened = blocking(&cx.server, move |_| start(&opening, params)).await;
        let opened = match opened.and_then(identity) {
            Ok(opened) => opened.with_required_servers(&cx.server, "creating").await,
            Err(error) => Err(error),
        };
        let mut opened = match opened {
            Ok(opened) => opened,
            Err(error) => return reply.send(Err(error)).await,
        };
        let hold = opened.hold.take();
        let thread = opened.thread.clone();
        reply.send(Ok(started(opened, &cx.client.words))).await;
        cx.server
            .hub
            .broadcast::<event::ThreadStarted>(&ThreadStartedNotification { thread })
            .await;
        drop(hold);
    }
}

fn start(cx: &Cx, params: ThreadStartParams) -> Result<Opened, Refusal> {
    let dynamic_tools = params.dynamic_tools.clone().unwrap_or_default();
    check_tools(&dynamic_tools)?;
    let request = StartRequest {
        overrides: Overrides::from(&params),
        ephemeral: params.ephemeral.unwrap_or(false),
        dynamic_tools,
        raw_items: params.experimental_raw_events,
        history: Vec::new(),
    };
    load::start(&cx.server, &cx.client, request)
}

fn started(opened: Opened, words: &Words) -> ThreadStartResponse {
    let session = opened.session;
    ThreadStartResponse {
        thread: opened.thread,
        model_provider: session.provider.id.clone(),
        service_tier: session.service_tier,
        cwd: session.cwd_text(),
        runtime_workspace_roots: session.workspace_roots(),
        approval_policy: words.policy(session.approval_policy),
        approvals_reviewer: session.approvals_reviewer,
        sandbox: session.sandbox,
        reasoning_effort: session.effort.map(|it| words.effort(it)),
        model: session.model,
    }
}

/// Refuses tools that the model could not be offered.
fn check_tools(tools: &[DynamicToolSpec]) -> Result<(), Refusal> {
    let mut seen = std::collections::HashSet::new();
    for tool in tools {
        let name = tool.name.trim();
        let problem = if name.is_empty() {
            Some("dynamic tool name must not be empty".to_owned())
        } else if name != tool.name {
            Some(format!(
                "dynamic tool name has leading/trailing whitespace: {}",
                tool.name
            ))
        } else if name == "mcp" || name.starts_with("mcp__") {
            Some(format!("dynamic tool name is reserved: {name}"))
        } else if !seen.insert(name) {
            Some(format!("duplicate dynamic tool name: {name}"))
        } else {
            schema_problem(&tool.input_schema.to_value(), 0)
                .map(|why| format!("dynamic tool input schema is not supported for {name}: {why}"))
        };
        if let Some(problem) = problem {
            return Err(Refusal::invalid_request(problem));
        }
    }
    Ok(())
}

/// Why a schema cannot be given to a model; one without a type is taken for an object.
fn schema_problem(schema: &Value, depth: usize) -> Option<String> {
    const TYPES: [&str; 6] = ["boolean", "string", "integer", "number", "array", "object"];
    let schema = match schema {
        Value::Object(schema) if depth < MAX_SCHEMA_DEPTH => schema,
        Value::Object(_) | Value::Bool(_) => return None,
        _ => return Some("a schema is an object".to_owned()),
    };
    if let Some(Value::String(kind)) = schema.get("type")
        && !TYPES.contains(&kind.as_str())
    {
        return Some(format!(
            "unknown variant `{kind}`, expected one of `boolean`, `string`, `integer`, `number`, `array`, `object`"
        ));
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let properties = properties.into_iter().flat_map(serde_json::Map::values);
    let others = ["items", "additionalProperties"].into_iter();
    let mut parts = properties.chain(others.filter_map(|name| schema.get(name)));
    parts.find_map(|part| schema_problem(part, depth + 1).filter(|_| part.is_object()))
}
