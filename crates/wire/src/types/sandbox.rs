//! MODDOC

use quipu_wire_macros::wire;

use crate::AbsolutePath;

/// DOC
#[wire(snake)]
pub enum ApprovalsReviewer {
    User,
    GuardianSubagent,
}

/// DOC
#[wire(kebab, fields = "snake")]
pub enum AskForApproval {
    #[wire(alias = "unlessTrusted", alias = "unless-trusted")]
    Untrusted,
    #[wire(alias = "onFailure")]
    OnFailure,
    #[wire(alias = "onRequest")]
    OnRequest,
    #[wire(experimental = "askForApproval.granular")]
    Granular {
        sandbox_approval: bool,
        rules: bool,
        #[wire(default)]
        skill_approval: bool,
        #[wire(default)]
        request_permissions: bool,
        mcp_elicitations: bool,
    },
    Never,
}

/// DOC
#[wire(kebab)]
pub enum SandboxMode {
    #[wire(alias = "readOnly")]
    ReadOnly,
    #[wire(alias = "workspaceWrite")]
    WorkspaceWrite,
    #[wire(alias = "dangerFullAccess")]
    DangerFullAccess,
}

/// DOC
#[wire]
pub enum NetworkAccess {
    Restricted,
    Enabled,
}

/// DOC
#[wire(tag = "type")]
pub enum ReadOnlyAccess {
    Restricted {
        #[wire(default = "true")]
        include_platform_defaults: bool,
        #[wire(default)]
        readable_roots: Vec<AbsolutePath>,
    },
    FullAccess,
}

/// DOC
#[wire(tag = "type", tag_alias = "mode")]
pub enum SandboxPolicy {
    #[wire(alias = "danger-full-access")]
    DangerFullAccess,
    #[wire(alias = "read-only")]
    ReadOnly {
        #[wire(default = "{\"type\": \"fullAccess\"}")]
        access: ReadOnlyAccess,
        #[wire(default)]
        network_access: bool,
    },
    #[wire(alias = "external-sandbox")]
    ExternalSandbox {
        #[wire(default = "\"restricted\"")]
        network_access: NetworkAccess,
    },
    #[wire(alias = "workspace-write")]
    WorkspaceWrite {
        #[wire(default)]
        writable_roots: Vec<AbsolutePath>,
        #[wire(default = "{\"type\": \"fullAccess\"}")]
        read_only_access: ReadOnlyAccess,
        #[wire(default)]
        network_access: bool,
        #[wire(default)]
        exclude_tmpdir_env_var: bool,
        #[wire(default)]
        exclude_slash_tmp: bool,
    },
}
