//! Finds the step that a request asks for: the last prompt's script, moved on by the tool outputs
//! after it, in each of the three formats.

use quipu_model::WireApi;
use quipu_model::script::{Script, Step};
use serde_json::Value;

/// What the history holds, as far as scripts care.
enum Said {
    User(String),
    ToolOutputs(usize),
}

pub(super) fn step(wire: WireApi, body: &Value) -> Step {
    let history = match wire {
        WireApi::Responses | WireApi::Offline => responses(body),
        WireApi::Chat => chat(body),
        WireApi::Anthropic => anthropic(body),
    };
    let mut outputs = 0;
    for said in history.into_iter().rev() {
        match said {
            Said::ToolOutputs(count) => outputs += count,
            Said::User(text) => match Script::find(&text) {
                Some(Ok(script)) => {
                    return script.step_after(outputs).cloned().unwrap_or_else(plain);
                }
                Some(Err(reason)) => return Step::says(format!("bad script: {reason}")),
                // Context that a server adds in the user's name is no prompt.
                None if text.starts_with('<') || text.starts_with('#') => {}
                None => return plain(),
            },
        }
    }
    plain()
}

fn plain() -> Step {
    Step::says("ok")
}

fn responses(body: &Value) -> Vec<Said> {
    let read = |item: &Value| match (item["type"].as_str(), item["role"].as_str()) {
        (Some("function_call_output" | "custom_tool_call_output"), _) => Some(Said::ToolOutputs(1)),
        (_, Some("user")) => Some(Said::User(text(&item["content"]))),
        _ => None,
    };
    list(&body["input"]).filter_map(read).collect()
}

fn chat(body: &Value) -> Vec<Said> {
    let read = |message: &Value| match message["role"].as_str() {
        Some("tool") => Some(Said::ToolOutputs(1)),
        Some("user") => Some(Said::User(text(&message["content"]))),
        _ => None,
    };
    list(&body["messages"]).filter_map(read).collect()
}

fn anthropic(body: &Value) -> Vec<Said> {
    let read = |message: &Value| {
        let content = &message["content"];
        let results = list(content)
            .filter(|block| block["type"] == "tool_result")
            .count();
        let said = text(content);
        let said = (!said.is_empty()).then_some(Said::User(said));
        [(results > 0).then_some(Said::ToolOutputs(results)), said]
            .into_iter()
            .flatten()
    };
    list(&body["messages"])
        .filter(|message| message["role"] == "user")
        .flat_map(read)
        .collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The text of content that is a string or a list of parts.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        content => list(content)
            .filter_map(|part| part["text"].as_str())
            .collect(),
    }
}
