//! May this tool of an MCP server be called, and may its server ask questions.

use quipu_wire::AskForApproval;

use crate::settings::{Settings, confines_files};

/// What the configuration says about one tool (`approval_mode`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolApprovalMode {
    /// The tool's own hints decide.
    #[default]
    Auto,
    /// Always ask.
    Prompt,
    /// Never ask.
    Approve,
}

/// What a tool says about itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolHints {
    /// It changes nothing.
    pub read_only: Option<bool>,
    /// It may destroy something.
    pub destructive: Option<bool>,
    /// It reaches beyond its own data.
    pub open_world: Option<bool>,
}

impl ToolHints {
    fn want_question(self) -> bool {
        if self.destructive == Some(true) {
            return true;
        }
        let harmless = self.destructive == Some(false) && self.open_world == Some(false);
        self.read_only != Some(true) && !harmless
    }
}

/// Whether a person is asked before a tool is called.
#[must_use]
pub fn mcp_tool_needs_question(
    server: &str,
    tool: &str,
    mode: ToolApprovalMode,
    hints: ToolHints,
    settings: &Settings<'_>,
) -> bool {
    let unattended = *settings.approval_policy == AskForApproval::Never;
    if unattended && !confines_files(settings.sandbox) {
        return false;
    }
    match mode {
        ToolApprovalMode::Approve => false,
        ToolApprovalMode::Prompt => true,
        ToolApprovalMode::Auto => {
            hints.want_question() && !settings.session.has_mcp_tool(server, tool)
        }
    }
}

/// The question before a tool is called.
#[must_use]
pub fn mcp_tool_question(server: &str, tool: &str) -> String {
    format!("Allow the {server} MCP server to run tool \"{tool}\"?")
}

/// The question before a tool of an app is called.
#[must_use]
pub fn app_tool_question(app: &str, tool: &str) -> String {
    format!("Allow {app} to run tool \"{tool}\"?")
}

/// Whether questions of MCP servers reach the client; otherwise they are declined.
#[must_use]
pub fn mcp_may_elicit(policy: &AskForApproval) -> bool {
    !matches!(
        policy,
        AskForApproval::Never
            | AskForApproval::Granular {
                mcp_elicitations: false,
                ..
            }
    )
}
