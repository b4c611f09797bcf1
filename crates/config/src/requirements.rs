//! Limits an administrator sets: what they are, where they come from, and what they do to a value that
//! goes beyond them.

mod network;
mod parse;
mod rules;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use quipu_wire::{
    AskForApproval, ConfigRequirements, NetworkRequirements, ResidencyRequirement, SandboxMode,
    WebSearchMode,
};

pub use parse::RequirementsError;
pub(crate) use parse::{from_managed, from_toml};
pub use rules::{Decision, PatternToken, PrefixRule};

/// Where a limit comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The organisation's account.
    Cloud,
    /// A file.
    File(PathBuf),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Cloud => f.write_str("cloud requirements"),
            Source::File(path) => path.display().fmt(f),
        }
    }
}

/// A limit and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit<T> {
    /// The limit.
    pub value: T,
    /// Where it comes from.
    pub source: Source,
}

/// A kind of sandbox a limit may allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllowedSandbox {
    /// Commands may only read.
    ReadOnly,
    /// Commands may write in the workspace.
    WorkspaceWrite,
    /// No sandbox.
    DangerFullAccess,
    /// A sandbox around the whole program.
    ExternalSandbox,
}

/// What an MCP server must be to be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpIdentity {
    /// This program.
    Command(String),
    /// This address.
    Url(String),
}

/// All limits in force.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Requirements {
    /// Values `approval_policy` may have.
    pub approval_policies: Option<Limit<Vec<AskForApproval>>>,
    /// Values `sandbox_mode` may have.
    pub sandbox_modes: Option<Limit<Vec<AllowedSandbox>>>,
    /// Values `web_search` may have.
    pub web_search_modes: Option<Limit<Vec<WebSearchMode>>>,
    /// Features fixed on or off.
    pub features: Option<Limit<BTreeMap<String, bool>>>,
    /// The only MCP servers that may be used.
    pub mcp_servers: Option<Limit<BTreeMap<String, McpIdentity>>>,
    /// Apps by id: whether they may be used.
    pub apps: BTreeMap<String, bool>,
    /// Rules for commands.
    pub rules: Option<Limit<Vec<PrefixRule>>>,
    /// Where data must stay.
    pub residency: Option<Limit<ResidencyRequirement>>,
    /// More instructions for the reviewer model.
    pub guardian_instructions: Option<Limit<String>>,
    /// The network of commands.
    pub network: Option<Limit<NetworkRequirements>>,
}

/// A value beyond a limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid value for `{field}`: `{value}` is not in the allowed set {allowed} (set by {source_name})"
)]
pub struct NotAllowed {
    /// The setting.
    pub field: &'static str,
    /// Its value.
    pub value: String,
    /// What it may be.
    pub allowed: String,
    /// Who says so.
    pub source_name: String,
}

impl Requirements {
    /// What holds when the limits in a file cannot be read: commands may only read, or ask.
    pub(crate) fn strictest(path: &Path) -> Self {
        let source = Source::File(path.to_owned());
        let policies = vec![AskForApproval::OnRequest, AskForApproval::Untrusted];
        Self {
            approval_policies: Some(Limit {
                value: policies,
                source: source.clone(),
            }),
            sandbox_modes: Some(Limit {
                value: vec![AllowedSandbox::ReadOnly],
                source,
            }),
            ..Self::default()
        }
    }

    /// Adds the limits of a lower source where this one sets none.
    pub(crate) fn fill_from(&mut self, lower: Requirements) {
        fn fill<T>(slot: &mut Option<T>, lower: Option<T>) {
            if slot.is_none() {
                *slot = lower;
            }
        }
        fill(&mut self.approval_policies, lower.approval_policies);
        fill(&mut self.sandbox_modes, lower.sandbox_modes);
        fill(&mut self.web_search_modes, lower.web_search_modes);
        fill(&mut self.features, lower.features);
        fill(&mut self.mcp_servers, lower.mcp_servers);
        fill(&mut self.rules, lower.rules);
        fill(&mut self.residency, lower.residency);
        fill(&mut self.guardian_instructions, lower.guardian_instructions);
        fill(&mut self.network, lower.network);
        for (id, enabled) in lower.apps {
            *self.apps.entry(id).or_insert(true) &= enabled;
        }
    }

    /// The limits as clients see them; `None` when there are none.
    pub fn to_wire(&self) -> Option<ConfigRequirements> {
        if *self == Requirements::default() {
            return None;
        }
        let network = self.network.as_ref().map(|limit| limit.value.clone());
        Some(ConfigRequirements {
            allowed_approval_policies: self
                .approval_policies
                .as_ref()
                .map(|limit| limit.value.clone()),
            allowed_sandbox_modes: self.sandbox_modes.as_ref().map(|limit| {
                limit
                    .value
                    .iter()
                    .filter_map(|allowed| allowed.mode())
                    .collect()
            }),
            allowed_web_search_modes: self
                .web_search_modes
                .as_ref()
                .map(|limit| limit.value.clone()),
            feature_requirements: self.features.as_ref().map(|limit| limit.value.clone()),
            enforce_residency: self.residency.as_ref().map(|limit| limit.value),
            network,
        })
    }

    /// Whether an approval policy is within the limits.
    pub fn allow_approval(&self, policy: &AskForApproval) -> Result<(), NotAllowed> {
        let Some(limit) = &self.approval_policies else {
            return Ok(());
        };
        if limit.value.contains(policy) {
            return Ok(());
        }
        let allowed = limit.value.iter().map(approval_name).collect();
        Err(not_allowed(
            "approval_policy",
            approval_name(policy),
            allowed,
            &limit.source,
        ))
    }

    /// Whether a kind of sandbox is within the limits.
    pub fn allow_sandbox(&self, sandbox: AllowedSandbox) -> Result<(), NotAllowed> {
        let Some(limit) = &self.sandbox_modes else {
            return Ok(());
        };
        if limit.value.contains(&sandbox) {
            return Ok(());
        }
        let allowed = limit.value.iter().map(|mode| format!("{mode:?}")).collect();
        Err(not_allowed(
            "sandbox_mode",
            format!("{sandbox:?}"),
            allowed,
            &limit.source,
        ))
    }

    /// Whether a kind of web search is within the limits.
    pub fn allow_web_search(&self, mode: &WebSearchMode) -> Result<(), NotAllowed> {
        let Some(limit) = &self.web_search_modes else {
            return Ok(());
        };
        if limit.value.contains(mode) {
            return Ok(());
        }
        let order = [
            WebSearchMode::Disabled,
            WebSearchMode::Cached,
            WebSearchMode::Live,
        ];
        let allowed = order.iter().filter(|mode| limit.value.contains(mode));
        let allowed = allowed.map(|mode| format!("{mode:?}")).collect();
        Err(not_allowed(
            "web_search_mode",
            format!("{mode:?}"),
            allowed,
            &limit.source,
        ))
    }

    /// The features fixed on or off.
    pub fn pinned_features(&self) -> BTreeMap<String, bool> {
        self.features
            .as_ref()
            .map(|limit| limit.value.clone())
            .unwrap_or_default()
    }
}

impl AllowedSandbox {
    /// The mode of this name in settings, if there is one.
    pub fn mode(self) -> Option<SandboxMode> {
        match self {
            AllowedSandbox::ReadOnly => Some(SandboxMode::ReadOnly),
            AllowedSandbox::WorkspaceWrite => Some(SandboxMode::WorkspaceWrite),
            AllowedSandbox::DangerFullAccess => Some(SandboxMode::DangerFullAccess),
            AllowedSandbox::ExternalSandbox => None,
        }
    }
}

fn not_allowed(
    field: &'static str,
    value: String,
    allowed: Vec<String>,
    source: &Source,
) -> NotAllowed {
    let allowed = format!("[{}]", allowed.join(", "));
    NotAllowed {
        field,
        value,
        allowed,
        source_name: source.to_string(),
    }
}

/// The name of a policy in messages about limits.
pub(crate) fn approval_name(policy: &AskForApproval) -> String {
    match policy {
        AskForApproval::Untrusted => "UnlessTrusted".to_owned(),
        AskForApproval::OnFailure => "OnFailure".to_owned(),
        AskForApproval::OnRequest => "OnRequest".to_owned(),
        AskForApproval::Never => "Never".to_owned(),
        other => format!("{other:?}"),
    }
}
