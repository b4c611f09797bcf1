//! The tools and resources of MCP servers.

mod approval;
mod call;
mod elicitation;
mod output;
mod resources;
mod schema;

use std::collections::BTreeMap;
use std::sync::Arc;

use quipu_mcp::{Fleet, OfferedTool};
use quipu_policy::mcp::ToolApprovalMode;
use quipu_wire::{Json, McpToolCallError, McpToolCallResult, McpToolCallStatus, ThreadItem};

pub(crate) use call::{call, is_mcp_tool};
pub use elicitation::{elicitation_request, reaction};
pub(crate) use resources::ResourceTool;

use crate::memo::Memo;
use crate::scope::Scope;
use crate::spec::Spec;
use crate::tool_search::Deferred;

/// The MCP servers of a thread, and what the configuration says about their tools.
#[derive(Debug, Clone, Default)]
pub struct McpScope {
    pub fleet: Fleet,
    /// The approval of single tools: by server, then by tool.
    pub approvals: Arc<BTreeMap<String, BTreeMap<String, ToolApprovalMode>>>,
    /// Users are asked about a call as if the server asked; otherwise as if the agent did.
    pub asks_by_elicitation: bool,
    /// How many tools are listed to the model; it has to search for the others.
    pub max_listed: usize,
}

/// What models can read of the schemas that servers give.
static REDUCED: Memo<String> = Memo::new();

/// The tools of the servers that are ready and that the model is offered: those that are listed, and those that it
/// found.
pub(crate) fn specs(scope: &Scope) -> impl Iterator<Item = Spec> {
    let tools = scope.mcp.fleet.tools().into_iter().enumerate();
    let offered = tools.filter(|(place, it)| {
        *place < scope.mcp.max_listed || scope.found_tools.contains(&it.qualified)
    });
    offered.map(|(_, it)| {
        let tool = described(it);
        Spec::with_schema(&tool.name, &tool.description, tool.schema)
    })
}

/// The tools that are too many to be listed.
pub(crate) fn deferred(mcp: &McpScope) -> impl Iterator<Item = Deferred> {
    let tools = mcp.fleet.tools().into_iter();
    tools.skip(mcp.max_listed).map(described)
}

/// How many tools are too many to be listed.
pub(crate) fn deferred_count(mcp: &McpScope) -> usize {
    mcp.fleet.tools().len().saturating_sub(mcp.max_listed)
}

/// A tool as the model reads about it.
fn described(offered: OfferedTool) -> Deferred {
    let schema = REDUCED.get(offered.tool.input_schema.get().to_owned(), |text| {
        let schema = serde_json::from_str(text).unwrap_or_default();
        schema::reduced(&schema).into()
    });
    Deferred {
        name: offered.qualified,
        description: offered.tool.description.unwrap_or_default(),
        schema,
    }
}

impl McpScope {
    fn approval_mode(&self, offered: &OfferedTool) -> ToolApprovalMode {
        let tools = self.approvals.get(&offered.server);
        let mode = tools.and_then(|tools| tools.get(&offered.tool.name));
        mode.copied().unwrap_or_default()
    }
}

/// The item of a call.
struct Shown<'a> {
    id: &'a str,
    server: &'a str,
    tool: &'a str,
    arguments: Option<&'a Json>,
}

impl Shown<'_> {
    fn started(&self) -> ThreadItem {
        self.item(McpToolCallStatus::InProgress, None, None, None)
    }

    fn succeeded(&self, result: McpToolCallResult, is_error: bool, millis: i64) -> ThreadItem {
        let status = match is_error {
            true => McpToolCallStatus::Failed,
            false => McpToolCallStatus::Completed,
        };
        self.item(status, Some(result), None, Some(millis))
    }

    fn failed(&self, message: &str, millis: i64) -> ThreadItem {
        let message = message.to_owned();
        let error = Some(McpToolCallError { message });
        self.item(McpToolCallStatus::Failed, None, error, Some(millis))
    }

    fn item(
        &self,
        status: McpToolCallStatus,
        result: Option<McpToolCallResult>,
        error: Option<McpToolCallError>,
        duration_ms: Option<i64>,
    ) -> ThreadItem {
        ThreadItem::McpToolCall {
            id: self.id.to_owned(),
            server: self.server.to_owned(),
            tool: self.tool.to_owned(),
            status,
            arguments: self.arguments.cloned().unwrap_or_default(),
            result,
            error,
            duration_ms,
        }
    }
}

fn millis(since: std::time::Instant) -> i64 {
    i64::try_from(since.elapsed().as_millis()).unwrap_or(i64::MAX)
}
