//! The tools of a thread: which run, and how they end.

use std::collections::HashMap;

use quipu_engine::{CallKind, ToolCall, ToolEvent};
use quipu_wire::Json;
use serde_json::json;
use tokio::task::JoinHandle;

use super::actor::Actor;
use super::message::{Message, ToolReport};

/// The running calls, by turn.
#[derive(Default)]
pub(super) struct Tooling {
    running: HashMap<String, Vec<JoinHandle<()>>>,
}

impl Tooling {
    /// Whether processes of earlier turns still run.
    pub fn has_processes(&self) -> bool {
        false
    }

    pub fn kill_processes(&self) {}

    pub fn cancel(&mut self, turn_id: &str) {
        for task in self.running.remove(turn_id).unwrap_or_default() {
            task.abort();
        }
    }

    pub async fn shut_down(&mut self) {
        for (_, tasks) in self.running.drain() {
            tasks.iter().for_each(JoinHandle::abort);
        }
    }
}

impl Actor {
    /// The tools offered for a purpose.
    pub fn tools(&self, _purpose: quipu_engine::Purpose) -> quipu_model::ToolSet {
        quipu_model::ToolSet::default()
    }

    pub fn run_tool(&mut self, turn_id: String, call: ToolCall) {
        let handle = self.handle.clone();
        let task = tokio::spawn(async move {
            let text = match &call.kind {
                CallKind::Custom(_) => format!("unsupported custom tool call: {}", call.name),
                _ => format!("unsupported call: {}", call.name),
            };
            let output = vec![output_item(&call, &text)];
            let event = ToolReport::Event(ToolEvent::Finished {
                output,
                end_turn: false,
            });
            handle
                .send(Message::Tool {
                    call_id: call.call_id,
                    event,
                })
                .await;
        });
        self.tooling.running.entry(turn_id).or_default().push(task);
    }

    pub fn run_shell(&mut self, turn_id: String, item_id: String, _command: String) {
        let handle = self.handle.clone();
        let task = tokio::spawn(async move {
            let event = ToolReport::Event(ToolEvent::Finished {
                output: Vec::new(),
                end_turn: false,
            });
            handle
                .send(Message::Tool {
                    call_id: item_id,
                    event,
                })
                .await;
        });
        self.tooling.running.entry(turn_id).or_default().push(task);
    }
}

/// The output of a call in the form its kind wants.
fn output_item(call: &ToolCall, text: &str) -> Json {
    let kind = match call.kind {
        CallKind::Custom(_) => "custom_tool_call_output",
        _ => "function_call_output",
    };
    Json::from(json!({ "type": kind, "call_id": call.call_id, "output": text }))
}
