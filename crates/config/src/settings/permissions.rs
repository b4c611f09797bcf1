//! When to ask, and what commands may touch.

use std::path::{Path, PathBuf};

use quipu_wire::{
    AbsolutePath, ApprovalsReviewer, AskForApproval, ReadOnlyAccess, SandboxMode, SandboxPolicy,
};
use serde::Deserialize;

use super::network::{self, ManagedNetwork};
use super::permission_profile::{self, Base, Resolved};
use crate::home::Home;
use crate::load::LoadError;
use crate::project::Trust;
use crate::requirements::{AllowedSandbox, NotAllowed, Requirements, approval_name};
use crate::snapshot::View;

/// When to ask, and what commands may touch.
#[derive(Debug, Clone, PartialEq)]
pub struct Permissions {
    /// When to ask.
    pub approval_policy: AskForApproval,
    /// Who is asked.
    pub approvals_reviewer: ApprovalsReviewer,
    /// Ask in the form of the first protocol version.
    pub legacy_approvals: bool,
    /// What commands may touch.
    pub sandbox_policy: SandboxPolicy,
    /// Commands may run in a login shell.
    pub allow_login_shell: bool,
    /// Whom commands may reach, if the network is managed.
    pub network: Option<ManagedNetwork>,
    /// What sandboxed commands may not read, whatever else they may.
    pub hidden: Vec<PathBuf>,
}

/// Where commands run and who limits them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    /// The directory.
    pub cwd: &'a Path,
    /// The user's home directory.
    pub user_home: Option<&'a Path>,
    /// What the user says about its project.
    pub trust: Option<Trust>,
    /// The home directory.
    pub home: &'a Home,
    /// The administrator's limits.
    pub limits: &'a Requirements,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WorkspaceWrite {
    writable_roots: Vec<PathBuf>,
    network_access: bool,
    exclude_tmpdir_env_var: bool,
    exclude_slash_tmp: bool,
}

impl Permissions {
    /// Works out the permissions. Values beyond the administrator's limits are replaced by ones within
    /// them, which `notes` then say.
    pub(crate) fn resolve(
        view: &View<'_>,
        place: &Place<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Self, LoadError> {
        let profile = match mode_decides(view) {
            true => Resolved::default(),
            false => {
                let base = Base {
                    cwd: place.cwd,
                    user_home: place.user_home,
                };
                permission_profile::resolve(view, base, notes)?
            }
        };
        let limits = place.limits.network.as_ref().map(|limit| &limit.value);
        Ok(Self {
            approval_policy: approval_policy(view, place, notes),
            approvals_reviewer: view
                .get("approvals_reviewer")
                .unwrap_or(ApprovalsReviewer::User),
            legacy_approvals: view.get("legacy_approvals").unwrap_or(false),
            sandbox_policy: sandbox_policy(profile.policy, view, place, notes),
            allow_login_shell: view.get("allow_login_shell").unwrap_or(true),
            network: network::resolve(Some(&profile.network), limits),
            hidden: profile.hidden,
        })
    }
}

fn approval_policy(view: &View<'_>, place: &Place<'_>, notes: &mut Vec<String>) -> AskForApproval {
    let Place { trust, limits, .. } = *place;
    let configured: Option<AskForApproval> = view.get("approval_policy");
    let said = configured.is_some();
    let policy = configured.unwrap_or(match trust {
        Some(Trust::Untrusted) => AskForApproval::Untrusted,
        Some(Trust::Trusted) | None => AskForApproval::OnRequest,
    });
    let Err(refusal) = limits.allow_approval(&policy) else {
        return policy;
    };
    let allowed = limits
        .approval_policies
        .as_ref()
        .and_then(|limit| limit.value.first());
    let fallback = allowed.cloned().unwrap_or(AskForApproval::Untrusted);
    if said {
        notes.push(replaced(&refusal, &approval_name(&fallback)));
    }
    fallback
}

fn sandbox_policy(
    profile: Option<SandboxPolicy>,
    view: &View<'_>,
    place: &Place<'_>,
    notes: &mut Vec<String>,
) -> SandboxPolicy {
    let Place {
        trust,
        limits,
        home,
        ..
    } = *place;
    let mut policy = profile.unwrap_or_else(|| {
        let mode = view.get("sandbox_mode").unwrap_or(match trust {
            Some(_) => SandboxMode::WorkspaceWrite,
            None => SandboxMode::ReadOnly,
        });
        mode_policy(&mode, view)
    });
    add_memories(&mut policy, home);
    let Err(refusal) = limits.allow_sandbox(kind(&policy)) else {
        return policy;
    };
    if view.raw("sandbox_mode").is_some() || view.raw("default_permissions").is_some() {
        notes.push(replaced(
            &refusal,
            "ReadOnly { access: FullAccess, network_access: false }",
        ));
    }
    read_only()
}

/// Whether `sandbox_mode` is said in a higher place than `default_permissions`.
fn mode_decides(view: &View<'_>) -> bool {
    if view.is_requested("default_permissions") {
        return false;
    }
    let mut downwards = view.stack.enabled().rev().map(|layer| &layer.config);
    let highest = downwards.find(|config| {
        config.contains_key("sandbox_mode") || config.contains_key("default_permissions")
    });
    view.is_above_files("sandbox_mode")
        || highest.is_some_and(|config| !config.contains_key("default_permissions"))
}

fn mode_policy(mode: &SandboxMode, view: &View<'_>) -> SandboxPolicy {
    match mode {
        SandboxMode::WorkspaceWrite => {
            let table: WorkspaceWrite = view.table("sandbox_workspace_write");
            SandboxPolicy::WorkspaceWrite {
                writable_roots: table
                    .writable_roots
                    .iter()
                    .filter_map(AbsolutePath::new)
                    .collect(),
                read_only_access: ReadOnlyAccess::FullAccess,
                network_access: table.network_access,
                exclude_tmpdir_env_var: table.exclude_tmpdir_env_var,
                exclude_slash_tmp: table.exclude_slash_tmp,
            }
        }
        SandboxMode::DangerFullAccess => SandboxPolicy::DangerFullAccess,
        _ => read_only(),
    }
}

pub(super) fn read_only() -> SandboxPolicy {
    SandboxPolicy::ReadOnly {
        access: ReadOnlyAccess::FullAccess,
        network_access: false,
    }
}

/// The agent keeps notes in the home directory wherever it may write at all.
fn add_memories(policy: &mut SandboxPolicy, home: &Home) {
    if let (SandboxPolicy::WorkspaceWrite { writable_roots, .. }, Some(memories)) =
        (policy, AbsolutePath::new(home.path().join("memories")))
        && !writable_roots.contains(&memories)
    {
        writable_roots.push(memories);
    }
}

/// The kind of a policy, as limits name it.
fn kind(policy: &SandboxPolicy) -> AllowedSandbox {
    match policy {
        SandboxPolicy::WorkspaceWrite { .. } => AllowedSandbox::WorkspaceWrite,
        SandboxPolicy::ExternalSandbox { .. } => AllowedSandbox::ExternalSandbox,
        SandboxPolicy::ReadOnly { .. } => AllowedSandbox::ReadOnly,
        _ => AllowedSandbox::DangerFullAccess,
    }
}

impl Requirements {
    /// Whether a policy that a client sent is within the limits.
    pub fn allow_policy(&self, policy: &SandboxPolicy) -> Result<(), NotAllowed> {
        self.allow_sandbox(kind(policy))
    }
}

/// How a value beyond a limit is reported.
pub(super) fn replaced(refusal: &NotAllowed, fallback: &str) -> String {
    format!(
        "Configured value for `{}` is disallowed by requirements; falling back to required value {fallback}. \
         Details: {refusal}",
        refusal.field
    )
}
