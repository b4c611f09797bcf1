//! When to ask, and what commands may touch.

use std::path::{Path, PathBuf};

use quipu_wire::{
    AbsolutePath, ApprovalsReviewer, AskForApproval, ReadOnlyAccess, SandboxMode, SandboxPolicy,
};
use serde::Deserialize;

use super::permission_profile;
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
    /// What commands may touch.
    pub sandbox_policy: SandboxPolicy,
    /// Commands may run in a login shell.
    pub allow_login_shell: bool,
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
        trust: Option<Trust>,
        limits: &Requirements,
        home: &Home,
        cwd: &Path,
        notes: &mut Vec<String>,
    ) -> Result<Self, LoadError> {
        Ok(Self {
            approval_policy: approval_policy(view, trust, limits, notes),
            approvals_reviewer: view
                .get("approvals_reviewer")
                .unwrap_or(ApprovalsReviewer::User),
            sandbox_policy: sandbox_policy(view, trust, limits, home, cwd, notes)?,
            allow_login_shell: view.get("allow_login_shell").unwrap_or(true),
        })
    }
}

fn approval_policy(
    view: &View<'_>,
    trust: Option<Trust>,
    limits: &Requirements,
    notes: &mut Vec<String>,
) -> AskForApproval {
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
    view: &View<'_>,
    trust: Option<Trust>,
    limits: &Requirements,
    home: &Home,
    cwd: &Path,
    notes: &mut Vec<String>,
) -> Result<SandboxPolicy, LoadError> {
    let policy = match permission_profile::policy(view, cwd, notes)? {
        Some(mut policy) => {
            add_memories(&mut policy, home);
            policy
        }
        None => {
            let mode = view.get("sandbox_mode").unwrap_or(match trust {
                Some(_) => SandboxMode::WorkspaceWrite,
                None => SandboxMode::ReadOnly,
            });
            mode_policy(&mode, view, home)
        }
    };
    let Err(refusal) = limits.allow_sandbox(kind(&policy)) else {
        return Ok(policy);
    };
    if view.raw("sandbox_mode").is_some() || view.raw("default_permissions").is_some() {
        notes.push(replaced(
            &refusal,
            "ReadOnly { access: FullAccess, network_access: false }",
        ));
    }
    Ok(read_only())
}

fn mode_policy(mode: &SandboxMode, view: &View<'_>, home: &Home) -> SandboxPolicy {
    match mode {
        SandboxMode::WorkspaceWrite => {
            let table: WorkspaceWrite = view.table("sandbox_workspace_write");
            let mut policy = SandboxPolicy::WorkspaceWrite {
                writable_roots: table
                    .writable_roots
                    .iter()
                    .filter_map(AbsolutePath::new)
                    .collect(),
                read_only_access: ReadOnlyAccess::FullAccess,
                network_access: table.network_access,
                exclude_tmpdir_env_var: table.exclude_tmpdir_env_var,
                exclude_slash_tmp: table.exclude_slash_tmp,
            };
            add_memories(&mut policy, home);
            policy
        }
        SandboxMode::DangerFullAccess => SandboxPolicy::DangerFullAccess,
        _ => read_only(),
    }
}

fn read_only() -> SandboxPolicy {
    SandboxPolicy::ReadOnly {
        access: ReadOnlyAccess::FullAccess,
        network_access: false,
    }
}

/// The agent keeps notes in the home folder wherever it may write at all.
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
