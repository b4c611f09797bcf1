//! What the model is told about the tools for agents.

use serde_json::{Value, json};

use super::Role;
use crate::specs::{Spec, flag, function, number, text};

/// The tools for agents, in order.
pub(crate) fn specs(roles: &[Role]) -> Vec<Spec> {
    vec![
        spawn_agent(roles),
        send_input(),
        resume_agent(),
        wait_agent(),
        close_agent(),
    ]
}

fn spawn_agent(roles: &[Role]) -> Spec {
    let listed: Vec<String> = roles
        .iter()
        .map(|role| format!("- `{}`: {}", role.name, role.description))
        .collect();
    let kinds = format!(
        "The kind of agent, `default` if left out. There are:\n{}",
        listed.join("\n")
    );
    function(
        "spawn_agent",
        "Starts another agent on a task of its own and returns its id at once. Do this only when the user wants work \
         to be shared or done in parallel. Give it a task that stands by itself, and do something else meanwhile; you \
         are told when it is done. Close it when you need it no longer.",
        json!({
            "message": text("The task, with all that the agent must know. Either this or `items`."),
            "items": items(),
            "agent_type": text(&kinds),
            "fork_context": flag("Whether the agent knows this conversation so far. It knows nothing of it if left out."),
            "model": text("Another model for the agent; yours if left out."),
            "reasoning_effort": text("How hard the agent is to think; as you do if left out."),
        }),
        &[],
    )
}

fn send_input() -> Spec {
    function(
        "send_input",
        "Gives an agent more to do. An agent at work reads it as soon as it can.",
        json!({
            "target": text("The agent's id."),
            "message": text("What to tell it. Either this or `items`."),
            "items": items(),
            "interrupt": flag("Whether to stop what it is doing first."),
        }),
        &["target"],
    )
}

fn resume_agent() -> Spec {
    function(
        "resume_agent",
        "Brings back an agent that was closed, with all it knew, so that it can be given more to do.",
        json!({ "id": text("The agent's id.") }),
        &["id"],
    )
}

fn wait_agent() -> Spec {
    function(
        "wait_agent",
        "Waits until the first of these agents is done and returns what it said. Returns nothing if the time is over \
         before. Wait only when you cannot go on without them.",
        json!({
            "targets": { "type": "array", "items": { "type": "string" }, "description": "The ids of the agents." },
            "timeout_ms": number("How long to wait: 30000 if left out, at least 10000, at most 3600000."),
        }),
        &["targets"],
    )
}

fn close_agent() -> Spec {
    function(
        "close_agent",
        "Ends an agent and all that it started, and returns how it was. Agents that are done stay open until closed, \
         and only so many can be open.",
        json!({ "target": text("The agent's id.") }),
        &["target"],
    )
}

fn items() -> Value {
    let item = json!({
        "type": "object",
        "properties": {
            "type": text("`text`, `image`, `local_image`, `skill` or `mention`."),
            "text": text("With `text`: the words."),
            "image_url": text("With `image`: its URL."),
            "path": text("With `local_image` and `skill`: the file. With `mention`: what is meant, as `app://…`."),
            "name": text("With `skill` and `mention`: its name."),
        },
        "additionalProperties": false,
    });
    json!({ "type": "array", "items": item, "description": "Several things to tell it. Either this or `message`." })
}
