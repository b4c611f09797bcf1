//! What the server asks, answered without a person: approvals are given under the policy `never` and end the turn
//! under any other; local tools are run; nothing is left unanswered.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use quipu_client::wire::Json;
use quipu_client::{ErrorObject, Handler};
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::monitor::{Monitor, needs_input};
use super::state::Ending;
use super::{EventKind, Limits, Tool, ToolResult};

/// What is answered to a question that only a person could answer.
const NOBODY: &str = "This is a non-interactive session. Operator input is unavailable.";
/// How the questions begin by which old servers ask about the tools of MCP servers.
const MCP_APPROVAL: &str = "mcp_tool_call_approval_";

/// Who answers.
pub(super) struct Answers {
    pub monitor: Arc<Monitor>,
    pub tools: Vec<Arc<dyn Tool>>,
    pub auto_approve: bool,
    pub limits: Limits,
}

/// An answer, and what it means.
enum Answer {
    /// The approval that was asked for.
    Approved(Value),
    /// What is answered because nobody is there.
    Nobody(Value),
    /// A refusal, because an approval is needed that may not be given.
    ApprovalRequired(Value),
    /// A refusal, because a person is needed.
    InputRequired(Value),
    /// The result of a tool.
    Tool(Value),
    /// A question that the session does not know.
    Unknown(ErrorObject),
}

impl Handler for Answers {
    async fn intercept(&self, method: &str, params: &Json) -> Option<Result<Json, ErrorObject>> {
        let params = params.to_value();
        let answer = self.answer(method, &params).await;
        Some(self.settle(method, params, answer))
    }
}

impl Answers {
    async fn answer(&self, method: &str, params: &Value) -> Answer {
        match method {
            "item/commandExecution/requestApproval" | "item/fileChange/requestApproval" => {
                self.approval("acceptForSession", "cancel")
            }
            "execCommandApproval" | "applyPatchApproval" => {
                self.approval("approved_for_session", "abort")
            }
            "item/permissions/requestApproval" => {
                let nothing = json!({ "permissions": {}, "scope": "turn" });
                match self.auto_approve {
                    true => Answer::Nobody(nothing),
                    false => Answer::ApprovalRequired(nothing),
                }
            }
            "item/tool/requestUserInput" => self.user_input(params),
            "mcpServer/elicitation/request" => self.elicitation(params),
            "item/tool/call" => Answer::Tool(self.call_tool(params).await),
            _ if needs_input(method, params) => Answer::InputRequired(Value::Null),
            _ => Answer::Unknown(ErrorObject::new(
                -32601,
                format!("nobody answers `{method}` in an unattended session"),
            )),
        }
    }

    fn approval(&self, given: &str, refused: &str) -> Answer {
        match self.auto_approve {
            true => Answer::Approved(json!({ "decision": given })),
            false => Answer::ApprovalRequired(json!({ "decision": refused })),
        }
    }

    /// Questions to the user: those about tools of MCP servers are approvals, all others get the answer that nobody
    /// is there.
    fn user_input(&self, params: &Value) -> Answer {
        let questions = params.get("questions").and_then(Value::as_array);
        let mut answers = Map::new();
        let mut approves = false;
        for question in questions.into_iter().flatten() {
            let Some(id) = question.get("id").and_then(Value::as_str) else {
                return Answer::InputRequired(json!({ "answers": {} }));
            };
            let mut text = NOBODY;
            if id.starts_with(MCP_APPROVAL) {
                if !self.auto_approve {
                    return Answer::ApprovalRequired(json!({ "answers": {} }));
                }
                if let Some(label) = label_for_session(question) {
                    approves = true;
                    text = label;
                }
            }
            answers.insert(id.to_owned(), json!({ "answers": [text] }));
        }
        if answers.is_empty() {
            return Answer::InputRequired(json!({ "answers": {} }));
        }
        let answer = json!({ "answers": answers });
        match approves {
            true => Answer::Approved(answer),
            false => Answer::Nobody(answer),
        }
    }

    /// Questions of MCP servers. An empty form that asks to approve a tool is an approval; a form whose members all
    /// have defaults is answered with them; anything else, an empty form too, needs a person.
    fn elicitation(&self, params: &Value) -> Answer {
        let refused = json!({ "action": "decline", "content": null, "_meta": null });
        if params.pointer("/_meta/codex_approval_kind") == Some(&"mcp_tool_call".into()) {
            return match self.auto_approve {
                true => Answer::Approved(json!({
                    "action": "accept", "content": {}, "_meta": { "persist": "session" },
                })),
                false => Answer::ApprovalRequired(refused),
            };
        }
        match defaults(params) {
            Some(content) if self.auto_approve => {
                Answer::Nobody(json!({ "action": "accept", "content": content, "_meta": null }))
            }
            _ => Answer::InputRequired(refused),
        }
    }

    async fn call_tool(&self, params: &Value) -> Value {
        let _guard = self.monitor.state.tool();
        let name = ["tool", "name"]
            .iter()
            .find_map(|it| params.get(it)?.as_str());
        let name = name.unwrap_or_default();
        let tool = self.tools.iter().find(|tool| tool.spec().name == name);
        let (kind, result) = match tool {
            None => {
                let known: Vec<_> = self.tools.iter().map(|tool| tool.spec().name).collect();
                let error = format!("Unsupported dynamic tool `{name}`. Supported: {known:?}.");
                (EventKind::UnsupportedToolCall, ToolResult::failure(error))
            }
            Some(tool) => {
                let arguments = params.get("arguments").cloned().unwrap_or_default();
                let result = run(&**tool, name, arguments, &self.limits).await;
                match result.success {
                    true => (EventKind::ToolCallCompleted, result),
                    false => (EventKind::ToolCallFailed, result),
                }
            }
        };
        let text = match &result.output {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let payload = json!({ "tool": name, "output": result.output });
        self.monitor.report(kind, "item/tool/call", payload);
        json!({
            "success": result.success,
            "contentItems": [{ "type": "inputText", "text": text }],
        })
    }

    /// Tells what was answered, and ends the turn if it cannot go on.
    fn settle(&self, method: &str, request: Value, answer: Answer) -> Result<Json, ErrorObject> {
        let both = |answer: &Value| json!({ "request": request, "answer": answer });
        let report = |kind, payload| self.monitor.report(kind, method, payload);
        let answer = match answer {
            Answer::Approved(answer) => {
                report(EventKind::ApprovalAutoApproved, both(&answer));
                answer
            }
            Answer::Nobody(answer) => {
                report(EventKind::InputAutoAnswered, both(&answer));
                answer
            }
            Answer::ApprovalRequired(answer) => {
                report(EventKind::ApprovalRequired, request.clone());
                let ending = Ending::ApprovalRequired(request);
                self.monitor.state.give_up(ending);
                answer
            }
            Answer::InputRequired(answer) => {
                report(EventKind::TurnInputRequired, request.clone());
                let ending = Ending::InputRequired(request);
                self.monitor.state.give_up(ending);
                answer
            }
            Answer::Tool(answer) => answer,
            Answer::Unknown(error) => {
                report(EventKind::OtherMessage, request);
                return Err(error);
            }
        };
        Ok(answer.into())
    }
}

/// Runs a tool to its end, its panic or its limit.
async fn run(tool: &dyn Tool, name: &str, arguments: Value, limits: &Limits) -> ToolResult {
    let running = AssertUnwindSafe(async { tool.call(arguments).await }).catch_unwind();
    match timeout(limits.tool, running).await {
        Ok(Ok(result)) => result,
        Ok(Err(_)) => ToolResult::failure(format!("The tool `{name}` failed unexpectedly.")),
        Err(_) => {
            let limit = limits.tool;
            ToolResult::failure(format!(
                "The tool `{name}` did not finish within {limit:?}."
            ))
        }
    }
}

/// The answer among those offered that allows a tool for the rest of the session, or else once.
fn label_for_session(question: &Value) -> Option<&str> {
    let options = question.get("options")?.as_array()?;
    let labels = options
        .iter()
        .filter_map(|option| option.get("label")?.as_str());
    let allows = |label: &&str| {
        let label = label.to_ascii_lowercase();
        label.starts_with("allow") || label.starts_with("approve")
    };
    let labels: Vec<&str> = labels.filter(allows).collect();
    let session = labels
        .iter()
        .find(|label| label.to_ascii_lowercase().contains("session"));
    session.or(labels.first()).copied()
}

/// What a form is filled with, if it has defaults for all that it must have.
fn defaults(params: &Value) -> Option<Value> {
    let schema = params.get("requestedSchema")?;
    let properties = schema.get("properties")?.as_object()?;
    let mut content = Map::new();
    for (name, property) in properties {
        if let Some(default) = property.get("default") {
            content.insert(name.clone(), default.clone());
        }
    }
    let required = schema.get("required").and_then(Value::as_array);
    let mut required = required.into_iter().flatten().filter_map(Value::as_str);
    let is_whole = !content.is_empty() && required.all(|name| content.contains_key(name));
    is_whole.then(|| content.into())
}
