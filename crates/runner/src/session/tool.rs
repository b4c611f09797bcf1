//! Tools that run here and not in the agent's sandbox, offered to the model as dynamic tools.

use futures_util::future::BoxFuture;
use serde_json::Value;

/// A local tool. It runs in this process, with what only this process may know.
pub trait Tool: Send + Sync {
    /// How it is offered to the model.
    fn spec(&self) -> ToolSpec;

    /// Runs it. A panic counts as a failure, and so does taking longer than
    /// [`Limits::tool`](super::Limits::tool).
    fn call(&self, arguments: Value) -> BoxFuture<'_, ToolResult>;
}

/// How a tool is offered.
#[derive(Clone, Debug)]
pub struct ToolSpec {
    /// The name that the model calls.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The JSON schema of its arguments.
    pub input_schema: Value,
}

/// What came of a call.
#[derive(Clone, Debug)]
pub struct ToolResult {
    /// Whether it did what was asked.
    pub success: bool,
    /// What the model reads: a string as it is, anything else as JSON text.
    pub output: Value,
}

impl ToolResult {
    /// A call that did what was asked.
    pub fn success(output: impl Into<Value>) -> ToolResult {
        ToolResult {
            success: true,
            output: output.into(),
        }
    }

    /// A call that did not.
    pub fn failure(output: impl Into<Value>) -> ToolResult {
        ToolResult {
            success: false,
            output: output.into(),
        }
    }
}
