//! What a thread has set: who is asked, what the sandbox holds back, and what was agreed so far.

use std::path::PathBuf;

use quipu_wire::{AskForApproval, ReadOnlyAccess, SandboxPolicy};

use crate::bash::script_of;
use crate::permissions::Grants;
use crate::rules::Rules;
use crate::safe::system_name;
use crate::session::SessionApprovals;

/// Everything besides the request itself that decides whether something may run.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    /// When a person is asked.
    pub approval_policy: &'a AskForApproval,
    /// What a command may touch without a question.
    pub sandbox: &'a SandboxPolicy,
    /// The directories that this policy lets commands write to; see [`crate::writable::writable_roots`].
    pub writable: &'a [PathBuf],
    /// The user's shell.
    pub shell: &'a str,
    /// The rules in force.
    pub rules: &'a Rules,
    /// Permissions that the model was given on request.
    pub grants: &'a Grants,
    /// What was accepted for the session.
    pub session: &'a SessionApprovals,
    /// Whether single commands may ask for more permissions (`exec_permission_approvals`).
    pub additional_permissions: bool,
}

impl Settings<'_> {
    /// The script of a command line, if its shell is one that runs what the script says: a file that
    /// merely has the name of a shell may have been written by an earlier command.
    pub(crate) fn script_of<'v>(&self, argv: &'v [String]) -> Option<&'v str> {
        script_of(argv).filter(|_| argv[0] == self.shell || system_name(&argv[0]).is_some())
    }
}

/// Whether writing is held back at all. A policy this program does not know holds back.
pub(crate) fn confines_files(sandbox: &SandboxPolicy) -> bool {
    !matches!(
        sandbox,
        SandboxPolicy::DangerFullAccess | SandboxPolicy::ExternalSandbox { .. }
    )
}

/// Whether even reading is held back.
pub(crate) fn confines_reading(sandbox: &SandboxPolicy) -> bool {
    match sandbox {
        SandboxPolicy::DangerFullAccess | SandboxPolicy::ExternalSandbox { .. } => false,
        SandboxPolicy::ReadOnly { access, .. } => *access != ReadOnlyAccess::FullAccess,
        SandboxPolicy::WorkspaceWrite {
            read_only_access, ..
        } => *read_only_access != ReadOnlyAccess::FullAccess,
        SandboxPolicy::Unrecognized(_) => true,
    }
}

/// The name of a policy in messages to the model.
pub(crate) fn policy_name(policy: &AskForApproval) -> String {
    match policy {
        AskForApproval::Untrusted | AskForApproval::Unrecognized(_) => "UnlessTrusted".to_owned(),
        AskForApproval::OnFailure => "OnFailure".to_owned(),
        AskForApproval::OnRequest => "OnRequest".to_owned(),
        AskForApproval::Never => "Never".to_owned(),
        AskForApproval::Granular {
            sandbox_approval,
            rules,
            skill_approval,
            request_permissions,
            mcp_elicitations,
        } => format!(
            "Granular(GranularApprovalConfig {{ sandbox_approval: {sandbox_approval}, \
             rules: {rules}, skill_approval: {skill_approval}, \
             request_permissions: {request_permissions}, mcp_elicitations: {mcp_elicitations} }})"
        ),
    }
}
