//! What the agent may do on its own, and whom it asks about the rest.

use quipu_wire_macros::wire;

use crate::AbsolutePath;

/// Who answers the agent's approval questions.
#[wire(snake)]
pub enum ApprovalsReviewer {
    /// The user, through the client.
    User,
    /// A model that weighs the risk; clients see `item/autoApprovalReview/started`.
    #[wire(also = "auto_review")]
    GuardianSubagent,
}

/// When the agent asks before it acts.
#[wire(kebab, fields = "snake")]
pub enum AskForApproval {
    /// Before every command that is not known to only read.
    #[wire(alias = "unlessTrusted", alias = "unless-trusted")]
    Untrusted,
    /// When a command fails in the sandbox, to repeat it outside; deprecated.
    #[wire(alias = "onFailure", until = "0.118")]
    OnFailure,
    /// When the model asks to go beyond the sandbox, or a rule demands it.
    #[wire(alias = "onRequest")]
    OnRequest,
    /// As `on-request`, for the kinds of questions set to `true`; the others are refused at once.
    #[wire(experimental = "askForApproval.granular")]
    Granular {
        /// Whether commands and patches may ask to go beyond the sandbox.
        sandbox_approval: bool,
        /// Whether rules about commands may demand a question.
        rules: bool,
        /// Whether skills may ask.
        #[wire(default)]
        skill_approval: bool,
        /// Whether the model may ask for more permissions.
        #[wire(default)]
        request_permissions: bool,
        /// Whether MCP servers may ask.
        mcp_elicitations: bool,
    },
    /// Never; what would need an approval is refused.
    Never,
}

/// What commands may do on their own, in one word.
#[wire(kebab)]
pub enum SandboxMode {
    /// Read files.
    #[wire(alias = "readOnly")]
    ReadOnly,
    /// Read files, and write in the workspace and in temporary directories.
    #[wire(alias = "workspaceWrite")]
    WorkspaceWrite,
    /// Anything.
    #[wire(alias = "dangerFullAccess")]
    DangerFullAccess,
}

/// Whether a sandbox around the server lets commands reach the network.
#[wire]
pub enum NetworkAccess {
    Restricted,
    Enabled,
}

/// What a sandboxed command may read.
#[wire(tag = "type")]
pub enum ReadOnlyAccess {
    /// Some directories.
    Restricted {
        /// Also the system's own directories, such as `/usr` and `/etc`.
        #[wire(default = "true")]
        include_platform_defaults: bool,
        #[wire(default)]
        readable_roots: Vec<AbsolutePath>,
    },
    /// Everything.
    FullAccess,
}

/// What commands may do on their own, in detail.
#[wire(tag = "type", tag_alias = "mode")]
pub enum SandboxPolicy {
    /// Anything.
    #[wire(alias = "danger-full-access")]
    DangerFullAccess,
    /// Read files.
    #[wire(alias = "read-only")]
    ReadOnly {
        #[wire(default = "{\"type\": \"fullAccess\"}")]
        access: ReadOnlyAccess,
        #[wire(default)]
        network_access: bool,
    },
    /// Anything, since the server itself runs in a sandbox.
    #[wire(alias = "external-sandbox")]
    ExternalSandbox {
        /// What that sandbox allows; the model is told, nothing is enforced.
        #[wire(default = "\"restricted\"")]
        network_access: NetworkAccess,
    },
    /// Read files and write below some directories, but not in their `.git`, `.codex` and
    /// `.agents`.
    #[wire(alias = "workspace-write")]
    WorkspaceWrite {
        /// Directories to write in besides the working directory.
        #[wire(default)]
        writable_roots: Vec<AbsolutePath>,
        /// What may be read beyond the directories to write in.
        #[wire(default = "{\"type\": \"fullAccess\"}")]
        read_only_access: ReadOnlyAccess,
        #[wire(default)]
        network_access: bool,
        /// Forbids writing in the directory that `TMPDIR` names.
        #[wire(default)]
        exclude_tmpdir_env_var: bool,
        /// Forbids writing in `/tmp`.
        #[wire(default)]
        exclude_slash_tmp: bool,
    },
}
