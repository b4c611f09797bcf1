//! Tools that the client provides: it is asked to run them.

use std::time::Instant;

use quipu_wire::{
    DynamicToolCallOutputContentItem as Content, DynamicToolCallParams, DynamicToolCallResponse,
    DynamicToolCallStatus, Json, ServerRequest, ThreadItem,
};
use serde_json::{Value, json};

use crate::call::{Finished, Output, Running};
use crate::scope::Scope;
use crate::spec::Spec;

/// The client's tools that the model is offered: those that are listed, and those that it found.
pub(crate) fn specs(scope: &Scope) -> impl Iterator<Item = Spec> {
    let tools = scope.dynamic_tools.iter();
    let offered = tools.filter(|it| !it.defer_loading || scope.found_tools.contains(&it.name));
    offered.map(|it| Spec::with_schema(&it.name, &it.description, it.input_schema.clone()))
}

pub(crate) fn knows(run: &Running, name: &str) -> bool {
    run.scope.dynamic_tools.iter().any(|tool| tool.name == name)
}

/// The namespace and the name that the client declared a tool with, by the name that the model calls it.
fn declared(scope: &Scope, name: &str) -> (Option<String>, String) {
    let tool = scope.dynamic_tools.iter().find(|tool| tool.name == name);
    let namespace = tool.and_then(|tool| tool.namespace.clone());
    let prefix = namespace.as_deref().map(namespace_prefix);
    let plain = prefix.and_then(|prefix| name.strip_prefix(&prefix));
    let plain = plain.unwrap_or(name).to_owned();
    (namespace, plain)
}

/// What the names of the tools of a namespace begin with towards the model, which knows no namespaces.
pub fn namespace_prefix(namespace: &str) -> String {
    format!("{namespace}__")
}

pub(crate) async fn call(run: &Running) -> Finished {
    let arguments: Json = match run.arguments() {
        Ok(arguments) => arguments,
        Err(error) => return error.into(),
    };
    let (namespace, tool) = declared(&run.scope, &run.call.name);
    let item = |status, content_items, success, duration_ms| ThreadItem::DynamicToolCall {
        id: run.id().to_string(),
        namespace: namespace.clone(),
        tool: tool.clone(),
        arguments: arguments.clone(),
        status,
        content_items,
        success,
        duration_ms,
    };
    run.started(item(DynamicToolCallStatus::InProgress, None, None, None))
        .await;
    let begun = Instant::now();
    let request = ServerRequest::ItemToolCall(DynamicToolCallParams {
        thread_id: run.scope.thread_id.to_string(),
        turn_id: run.scope.turn_id.to_string(),
        call_id: run.id().to_string(),
        namespace: namespace.clone(),
        tool: tool.clone(),
        arguments: arguments.clone(),
    });
    let Some(answer) = run.ask(request, None).await else {
        return "dynamic tool call was cancelled before receiving a response".into();
    };
    let response = match answer {
        Ok(json) => json
            .parse()
            .ok()
            .filter(is_understood)
            .unwrap_or_else(|| failure("dynamic tool response was invalid")),
        Err(()) => failure("dynamic tool request failed"),
    };
    let status = match response.success {
        true => DynamicToolCallStatus::Completed,
        false => DynamicToolCallStatus::Failed,
    };
    let elapsed = i64::try_from(begun.elapsed().as_millis()).unwrap_or(i64::MAX);
    let output = match response.content_items.as_slice() {
        [Content::InputText { text }] => Output::Text(text.clone()),
        items => Output::Parts(items.iter().filter_map(part).collect()),
    };
    run.completed(item(
        status,
        Some(response.content_items),
        Some(response.success),
        Some(elapsed),
    ))
    .await;
    output.into()
}

fn is_understood(response: &DynamicToolCallResponse) -> bool {
    let mut items = response.content_items.iter();
    !items.any(|item| matches!(item, Content::Unrecognized(_)))
}

fn failure(text: &str) -> DynamicToolCallResponse {
    DynamicToolCallResponse {
        content_items: vec![Content::InputText {
            text: text.to_owned(),
        }],
        success: false,
    }
}

fn part(content: &Content) -> Option<Value> {
    match content {
        Content::InputText { text } => Some(json!({ "type": "input_text", "text": text })),
        Content::InputImage { image_url } => {
            Some(json!({ "type": "input_image", "image_url": image_url }))
        }
        Content::Unrecognized(_) => None,
    }
}
