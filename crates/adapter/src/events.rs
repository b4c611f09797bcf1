//! What happens during an evaluation, for those who watch: logs, dashboards, tests.

use std::error::Error;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use quipu_client::wire::{CommandExecutionStatus, McpToolCallStatus, PatchApplyStatus, ThreadItem};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{Money, Usage};

/// Something that happened during an evaluation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Event {
    /// The adapter's name.
    pub adapter: String,
    /// The prompt's name.
    pub prompt: String,
    /// The evaluation, as a number that is unique in this process.
    pub evaluation: u64,
    /// What happened.
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum EventKind {
    /// The prompt was rendered; once, before the server is asked.
    PromptRendered {
        /// The text.
        text: String,
        /// The names of the tools.
        tools: Vec<String>,
    },
    /// A tool was used; once for each call of a tool of the program, of an MCP server or of the agent.
    ToolInvoked(ToolInvoked),
    /// The turn is completed; once.
    PromptExecuted {
        /// The answer.
        text: String,
        /// What was used.
        usage: Usage,
        /// What it cost, if the model's price is known.
        cost: Option<Money>,
        /// How long the evaluation took until then.
        duration: Duration,
    },
}

/// A use of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolInvoked {
    /// The tool's name; of a native tool its kind, such as `command`.
    pub tool: String,
    /// Whose tool it is.
    pub owner: ToolOwner,
    /// The id of the call.
    pub call_id: String,
    /// The arguments of the call.
    pub arguments: Value,
    /// What the model reads of the result, as text; an image is a line with its address or digest.
    pub result: String,
    /// Whether it did what it was to do.
    pub success: bool,
    /// How long it took, if known.
    pub duration: Option<Duration>,
}

/// Whose tool it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum ToolOwner {
    /// The program's: a [`Tool`](crate::Tool).
    Prompt,
    /// The agent's own.
    Agent,
    /// The MCP server of this name.
    Mcp(String),
}

impl ToolInvoked {
    /// A completed item as the use of a tool, if it is one. Calls of the program's own tools are
    /// reported where they run.
    pub(crate) fn of_item(item: &ThreadItem) -> Option<ToolInvoked> {
        match item {
            ThreadItem::CommandExecution { .. } => ToolInvoked::of_command(item),
            ThreadItem::McpToolCall { .. } => ToolInvoked::of_mcp_call(item),
            ThreadItem::FileChange {
                id,
                changes,
                status,
            } => Some(ToolInvoked {
                arguments: serde_json::to_value(changes).unwrap_or_default(),
                result: status.to_string(),
                success: *status == PatchApplyStatus::Completed,
                ..ToolInvoked::native("file_change", id)
            }),
            ThreadItem::WebSearch { id, query, .. } => Some(ToolInvoked {
                arguments: json!({ "query": query }),
                success: true,
                ..ToolInvoked::native("web_search", id)
            }),
            ThreadItem::Reasoning { .. } | ThreadItem::ContextCompaction { .. } => {
                tracing::debug!(?item, "item completed");
                None
            }
            _ => None,
        }
    }

    fn native(tool: &str, id: &str) -> ToolInvoked {
        ToolInvoked {
            tool: tool.to_owned(),
            owner: ToolOwner::Agent,
            call_id: id.to_owned(),
            arguments: Value::Null,
            result: String::new(),
            success: false,
            duration: None,
        }
    }

    fn of_command(item: &ThreadItem) -> Option<ToolInvoked> {
        let ThreadItem::CommandExecution {
            id,
            command,
            cwd,
            status,
            aggregated_output,
            exit_code,
            duration_ms,
            ..
        } = item
        else {
            return None;
        };
        Some(ToolInvoked {
            arguments: json!({ "command": command, "cwd": cwd }),
            result: aggregated_output.clone().unwrap_or_default(),
            success: *status == CommandExecutionStatus::Completed && *exit_code == Some(0),
            duration: milliseconds(*duration_ms),
            ..ToolInvoked::native("command", id)
        })
    }

    fn of_mcp_call(item: &ThreadItem) -> Option<ToolInvoked> {
        let ThreadItem::McpToolCall {
            id,
            server,
            tool,
            status,
            arguments,
            result,
            error,
            duration_ms,
        } = item
        else {
            return None;
        };
        let result = match (error, result) {
            (Some(error), _) => error.message.clone(),
            (None, Some(result)) => serde_json::to_string(result).unwrap_or_default(),
            (None, None) => String::new(),
        };
        Some(ToolInvoked {
            owner: ToolOwner::Mcp(server.clone()),
            arguments: arguments.to_value(),
            result,
            success: *status == McpToolCallStatus::Completed,
            duration: milliseconds(*duration_ms),
            ..ToolInvoked::native(tool, id)
        })
    }
}

fn milliseconds(reported: Option<i64>) -> Option<Duration> {
    reported
        .and_then(|it| u64::try_from(it).ok())
        .map(Duration::from_millis)
}

/// Whatever a subscriber fails with.
pub type SubscriberError = Box<dyn Error + Send + Sync>;

type Subscriber = dyn Fn(&Event) -> Result<(), SubscriberError> + Send + Sync;

/// Those who watch.
#[derive(Clone, Default)]
pub(crate) struct Subscribers(Vec<Arc<Subscriber>>);

impl Subscribers {
    pub fn add(
        &mut self,
        subscriber: impl Fn(&Event) -> Result<(), SubscriberError> + Send + Sync + 'static,
    ) {
        self.0.push(Arc::new(subscriber));
    }
}

impl fmt::Debug for Subscribers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} subscribers", self.0.len())
    }
}

/// The way of one evaluation's events to those who watch. A subscriber that fails changes nothing.
#[derive(Clone)]
pub(crate) struct Emitter {
    adapter: String,
    prompt: String,
    evaluation: u64,
    subscribers: Subscribers,
}

impl Emitter {
    pub fn new(adapter: &str, prompt: &str, subscribers: Subscribers) -> Emitter {
        static EVALUATIONS: AtomicU64 = AtomicU64::new(1);
        Emitter {
            adapter: adapter.to_owned(),
            prompt: prompt.to_owned(),
            evaluation: EVALUATIONS.fetch_add(1, Ordering::Relaxed),
            subscribers,
        }
    }

    pub fn emit(&self, kind: EventKind) {
        let event = Event {
            adapter: self.adapter.clone(),
            prompt: self.prompt.clone(),
            evaluation: self.evaluation,
            kind,
        };
        for subscriber in &self.subscribers.0 {
            match catch_unwind(AssertUnwindSafe(|| subscriber(&event))) {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::warn!(%error, "a subscriber failed"),
                Err(_) => tracing::warn!("a subscriber panicked"),
            }
        }
    }
}
