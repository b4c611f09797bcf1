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
use quipu_prompt::apps::App;
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
    /// Which tools are asked about whatever they say of themselves, and which are not.
    pub approvals: Arc<Approvals>,
    /// The tools of apps are among those of the servers.
    pub has_apps: bool,
    /// Users are asked about a call as if the server asked; otherwise as if the agent did.
    pub asks_by_elicitation: bool,
    /// How many tools are listed to the model; it has to search for the others.
    pub max_listed: usize,
}

/// What models can read of the schemas that servers give.
static REDUCED: Memo<String> = Memo::new();

/// Whether calls are asked about, as the configuration says.
#[derive(Debug, Clone, Default)]
pub struct Approvals {
    /// By server.
    pub servers: BTreeMap<String, ToolApprovals>,
    /// By app.
    pub apps: BTreeMap<String, ToolApprovals>,
}

/// Whether calls of the tools of one server or app are asked about.
#[derive(Debug, Clone, Default)]
pub struct ToolApprovals {
    /// Tools that are not named.
    pub others: ToolApprovalMode,
    /// Tools by name.
    pub tools: BTreeMap<String, ToolApprovalMode>,
}

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
    let description = offered.tool.description.unwrap_or_default();
    let description = match &offered.note {
        Some(note) if description.trim().is_empty() => note.clone(),
        Some(note) => format!("{}\n{note}", description.trim_end()),
        None => description,
    };
    Deferred {
        name: offered.qualified,
        description,
        schema,
    }
}

impl McpScope {
    /// The apps that have tools, by id, with the names of the tools.
    #[must_use]
    pub fn apps(&self) -> BTreeMap<String, App> {
        let mut apps = BTreeMap::new();
        if !self.has_apps {
            return apps;
        }
        for offered in self.fleet.tools() {
            if let Some(app) = offered.connector {
                let known = apps.entry(app.id.clone()).or_insert_with(|| App {
                    name: app.name.unwrap_or_else(|| app.id.clone()),
                    id: app.id,
                    tools: Vec::new(),
                });
                known.tools.push(offered.qualified);
            }
        }
        apps
    }

    fn approval_mode(&self, offered: &OfferedTool) -> ToolApprovalMode {
        let approvals = match &offered.connector {
            Some(app) => self.approvals.apps.get(&app.id),
            None => self.approvals.servers.get(&offered.server),
        };
        let mode = approvals.map(|it| it.tools.get(&offered.tool.name).unwrap_or(&it.others));
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
