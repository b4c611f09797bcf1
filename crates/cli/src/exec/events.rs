//! A turn as the JSON lines of `codex exec --json`, so that programs which drive that command can drive
//! this one. Items are numbered in the order of appearance, and of a message only its end is reported.

use std::collections::HashMap;

use quipu_client::wire::{
    FileUpdateChange, Json, McpToolCallError, PatchChangeKind, ServerNotification, ThreadItem,
    ThreadTokenUsage, TurnPlanStep, TurnPlanStepStatus, WebSearchAction,
};
use serde::Serialize;

use super::reason;

/// One line.
#[derive(Debug, Serialize)]
#[serde(tag = "type")]
pub enum Line {
    #[serde(rename = "thread.started")]
    ThreadStarted { thread_id: String },
    #[serde(rename = "turn.started")]
    TurnStarted,
    #[serde(rename = "turn.completed")]
    TurnCompleted { usage: Usage },
    #[serde(rename = "turn.failed")]
    TurnFailed { error: Message },
    #[serde(rename = "item.started")]
    ItemStarted { item: Item },
    #[serde(rename = "item.updated")]
    ItemUpdated { item: Item },
    #[serde(rename = "item.completed")]
    ItemCompleted { item: Item },
    #[serde(rename = "error")]
    Error(Message),
}

#[derive(Debug, Default, Serialize)]
pub struct Usage {
    input_tokens: i64,
    cached_input_tokens: i64,
    output_tokens: i64,
    /// US dollars that the thread has cost, where prices are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_dollars: Option<f64>,
}

#[derive(Debug, Serialize)]
pub struct Message {
    message: String,
}

#[derive(Debug, Serialize)]
pub struct Item {
    id: String,
    #[serde(flatten)]
    body: Body,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Body {
    AgentMessage {
        text: String,
    },
    Reasoning {
        text: String,
    },
    CommandExecution {
        command: String,
        aggregated_output: String,
        exit_code: Option<i32>,
        status: String,
    },
    FileChange {
        changes: Vec<Change>,
        status: String,
    },
    McpToolCall {
        server: String,
        tool: String,
        arguments: Json,
        result: Option<ToolResult>,
        error: Option<McpToolCallError>,
        status: String,
    },
    DynamicToolCall {
        tool: String,
        arguments: Json,
        status: String,
    },
    WebSearch {
        query: String,
        action: Option<WebSearchAction>,
    },
    TodoList {
        items: Vec<Todo>,
    },
    /// Something to know that ends nothing.
    Error {
        message: String,
    },
}

#[derive(Debug, Serialize)]
struct Change {
    path: String,
    kind: &'static str,
}

#[derive(Debug, Serialize)]
struct ToolResult {
    content: Vec<Json>,
    structured_content: Option<Json>,
}

#[derive(Debug, Serialize)]
struct Todo {
    text: String,
    completed: bool,
}

impl Line {
    pub fn error(message: String) -> Line {
        Line::Error(Message { message })
    }
}

/// Turns the notifications of a server into lines.
#[derive(Default)]
pub struct Events {
    /// The ids given out, by the server's own.
    ids: HashMap<String, String>,
    given: usize,
    /// The plan as last shared, and its id.
    plan: Option<(String, Vec<TurnPlanStep>)>,
    usage: Option<ThreadTokenUsage>,
}

impl Events {
    /// The line that a notification makes, if it makes one.
    pub fn of(&mut self, notification: &ServerNotification) -> Option<Line> {
        match notification {
            ServerNotification::TurnStarted(_) => Some(Line::TurnStarted),
            ServerNotification::ItemStarted(it) => match &it.item {
                ThreadItem::AgentMessage { .. } | ThreadItem::Reasoning { .. } => None,
                item => Some(Line::ItemStarted {
                    item: self.item(item)?,
                }),
            },
            ServerNotification::ItemCompleted(it) => Some(Line::ItemCompleted {
                item: self.item(&it.item)?,
            }),
            ServerNotification::TurnPlanUpdated(it) => Some(self.plan(&it.plan)),
            ServerNotification::ThreadTokenUsageUpdated(it) => {
                self.usage = Some(it.token_usage.clone());
                None
            }
            ServerNotification::Error(it) => Some(Line::error(match it.will_retry {
                true => reason::retry(&it.error),
                false => reason::failure(&it.error),
            })),
            _ => None,
        }
    }

    /// The line for something to know beside the turn, if it is that.
    pub fn notice(&mut self, notification: &ServerNotification) -> Option<Line> {
        let (summary, details) = match notification {
            ServerNotification::ConfigWarning(it) => (&it.summary, &it.details),
            ServerNotification::DeprecationNotice(it) => (&it.summary, &it.details),
            _ => return None,
        };
        let message = match details {
            Some(details) => format!("{summary} ({details})"),
            None => summary.clone(),
        };
        let item = Item {
            id: self.new_id(),
            body: Body::Error { message },
        };
        Some(Line::ItemCompleted { item })
    }

    /// The lines that end a turn; `failure` is what went wrong, if something did, and `cost` what the thread has cost.
    pub fn end(mut self, failure: Option<String>, cost: Option<f64>) -> Vec<Line> {
        let mut lines = Vec::new();
        if let Some((id, steps)) = self.plan.take() {
            let body = todo_list(&steps);
            lines.push(Line::ItemCompleted {
                item: Item { id, body },
            });
        }
        lines.push(match failure {
            Some(message) => Line::TurnFailed {
                error: Message { message },
            },
            None => Line::TurnCompleted {
                usage: self
                    .usage
                    .map(|usage| Usage {
                        input_tokens: usage.total.input_tokens,
                        cached_input_tokens: usage.total.cached_input_tokens,
                        output_tokens: usage.total.output_tokens,
                        cost_dollars: cost,
                    })
                    .unwrap_or_default(),
            },
        });
        lines
    }

    fn item(&mut self, item: &ThreadItem) -> Option<Item> {
        let (server_id, body) = body(item)?;
        let id = match self.ids.get(&server_id) {
            Some(id) => id.clone(),
            None => {
                let id = self.new_id();
                self.ids.insert(server_id, id.clone());
                id
            }
        };
        Some(Item { id, body })
    }

    fn plan(&mut self, steps: &[TurnPlanStep]) -> Line {
        let known = self.plan.take().map(|(id, _)| id);
        let first = known.is_none();
        let id = known.unwrap_or_else(|| self.new_id());
        self.plan = Some((id.clone(), steps.to_vec()));
        let body = todo_list(steps);
        let item = Item { id, body };
        match first {
            true => Line::ItemStarted { item },
            false => Line::ItemUpdated { item },
        }
    }

    fn new_id(&mut self) -> String {
        let id = format!("item_{}", self.given);
        self.given += 1;
        id
    }
}

fn todo_list(steps: &[TurnPlanStep]) -> Body {
    let items = steps.iter().map(|step| Todo {
        text: step.step.clone(),
        completed: step.status == TurnPlanStepStatus::Completed,
    });
    Body::TodoList {
        items: items.collect(),
    }
}

/// The item's own id and what is reported of it, if anything.
fn body(item: &ThreadItem) -> Option<(String, Body)> {
    Some(match item.clone() {
        ThreadItem::AgentMessage { id, text, .. } => (id, Body::AgentMessage { text }),
        ThreadItem::Reasoning { id, summary, .. } if !summary.is_empty() => {
            let text = summary.join("\n\n");
            (id, Body::Reasoning { text })
        }
        ThreadItem::CommandExecution {
            id,
            command,
            status,
            aggregated_output,
            exit_code,
            ..
        } => {
            let body = Body::CommandExecution {
                command,
                aggregated_output: aggregated_output.unwrap_or_default(),
                exit_code,
                status: word(&status),
            };
            (id, body)
        }
        ThreadItem::FileChange {
            id,
            changes,
            status,
        } => {
            let body = Body::FileChange {
                changes: changes.into_iter().map(change).collect(),
                status: word(&status),
            };
            (id, body)
        }
        ThreadItem::WebSearch { id, query, action } => (id, Body::WebSearch { query, action }),
        item => return tool_call(item),
    })
}

fn tool_call(item: ThreadItem) -> Option<(String, Body)> {
    Some(match item {
        ThreadItem::McpToolCall {
            id,
            server,
            tool,
            status,
            arguments,
            result,
            error,
            ..
        } => {
            let result = result.map(|result| ToolResult {
                content: result.content,
                structured_content: result.structured_content,
            });
            let body = Body::McpToolCall {
                server,
                tool,
                arguments,
                result,
                error,
                status: word(&status),
            };
            (id, body)
        }
        ThreadItem::DynamicToolCall {
            id,
            tool,
            arguments,
            status,
            ..
        } => {
            let status = word(&status);
            let body = Body::DynamicToolCall {
                tool,
                arguments,
                status,
            };
            (id, body)
        }
        _ => return None,
    })
}

fn change(change: FileUpdateChange) -> Change {
    let kind = match change.kind {
        PatchChangeKind::Add => "add",
        PatchChangeKind::Delete => "delete",
        _ => "update",
    };
    Change {
        path: change.path,
        kind,
    }
}

/// A status as these lines spell it: `in_progress` for the protocol's `inProgress`.
fn word(status: &impl Serialize) -> String {
    let word = serde_json::to_value(status).unwrap_or_default();
    match word.as_str() {
        Some("inProgress") => "in_progress".to_owned(),
        other => other.unwrap_or_default().to_owned(),
    }
}
