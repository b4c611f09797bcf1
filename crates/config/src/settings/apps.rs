//! Apps and their tools, switched on or off.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::mcp::McpToolApproval;
use crate::snapshot::Snapshot;

/// What the settings say about apps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Apps {
    others: Others,
    by_id: BTreeMap<String, App>,
    /// Apps that the administrator does not allow.
    forbidden: Vec<String>,
}

/// What a tool of an app says about itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AppToolHints {
    /// It may destroy something.
    pub destructive: bool,
    /// It reaches beyond its own data.
    pub open_world: bool,
}

/// Whether calls of an app's tools are asked about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AppApprovals {
    /// Tools that are not named.
    pub others: Option<McpToolApproval>,
    /// Tools by name.
    pub tools: BTreeMap<String, McpToolApproval>,
}

/// What holds for apps that are not named.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
struct Others {
    enabled: Option<bool>,
    destructive_enabled: Option<bool>,
    open_world_enabled: Option<bool>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
struct App {
    enabled: Option<bool>,
    destructive_enabled: Option<bool>,
    open_world_enabled: Option<bool>,
    default_tools_approval_mode: Option<McpToolApproval>,
    default_tools_enabled: Option<bool>,
    #[serde(default)]
    tools: BTreeMap<String, AppTool>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
struct AppTool {
    enabled: Option<bool>,
    approval_mode: Option<McpToolApproval>,
}

#[derive(Deserialize, Default)]
struct AppsToml {
    #[serde(rename = "_default", default)]
    others: Others,
    #[serde(flatten)]
    by_id: BTreeMap<String, App>,
}

impl Snapshot {
    /// What the settings say about apps.
    pub fn apps(&self) -> Apps {
        let toml: AppsToml = self.view().table("apps");
        let limits = self.requirements().apps.iter();
        let forbidden = limits.filter(|(_, allowed)| !**allowed);
        Apps {
            others: toml.others,
            by_id: toml.by_id,
            forbidden: forbidden.map(|(id, _)| id.clone()).collect(),
        }
    }
}

impl Apps {
    /// Whether an app is on.
    pub fn is_enabled(&self, id: &str) -> bool {
        let own = self.by_id.get(id).map(|app| app.enabled.unwrap_or(true));
        let enabled = own.or(self.others.enabled).unwrap_or(true);
        enabled && !self.forbidden.iter().any(|it| it == id)
    }

    /// Whether a tool of an app is on. What is said about the tool counts more than what is said about its
    /// app, and that more than what is said about its kind.
    pub fn is_tool_enabled(&self, id: &str, tool: &str, hints: AppToolHints) -> bool {
        if !self.is_enabled(id) {
            return false;
        }
        let app = self.by_id.get(id);
        let named = app.and_then(|app| app.tools.get(tool)?.enabled);
        if let Some(enabled) = named.or(app.and_then(|app| app.default_tools_enabled)) {
            return enabled;
        }
        let allows = |own: Option<bool>, others: Option<bool>| own.or(others).unwrap_or(true);
        let destructive = app.and_then(|app| app.destructive_enabled);
        let open_world = app.and_then(|app| app.open_world_enabled);
        (!hints.destructive || allows(destructive, self.others.destructive_enabled))
            && (!hints.open_world || allows(open_world, self.others.open_world_enabled))
    }

    /// Whether calls of tools are asked about, by app: its tools by name, and what holds for the others.
    pub fn approvals(&self) -> BTreeMap<String, AppApprovals> {
        let approvals = |app: &App| AppApprovals {
            others: app.default_tools_approval_mode,
            tools: app
                .tools
                .iter()
                .filter_map(|(name, tool)| Some((name.clone(), tool.approval_mode?)))
                .collect(),
        };
        let apps = self.by_id.iter();
        apps.map(|(id, app)| (id.clone(), approvals(app))).collect()
    }
}
