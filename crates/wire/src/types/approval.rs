//! MODDOC

use std::collections::BTreeMap;

use quipu_wire_macros::wire;

use crate::{
    AbsolutePath, CommandAction, DynamicToolCallOutputContentItem, ExecPolicyAmendment, Json,
    ThreadId,
};

/// DOC
#[wire]
pub struct AdditionalFileSystemPermissions {
    pub read: Option<Vec<AbsolutePath>>,
    pub write: Option<Vec<AbsolutePath>>,
}

/// DOC
#[wire]
pub struct AdditionalNetworkPermissions {
    pub enabled: Option<bool>,
}

/// DOC
#[wire]
pub struct AdditionalPermissionProfile {
    pub network: Option<AdditionalNetworkPermissions>,
    pub file_system: Option<AdditionalFileSystemPermissions>,
}

/// Parameters of the request `applyPatchApproval`.
#[wire(root, params)]
pub struct ApplyPatchApprovalParams {
    pub conversation_id: ThreadId,
    pub call_id: String,
    pub file_changes: BTreeMap<String, FileChange>,
    #[wire(nullable)]
    pub reason: Option<String>,
    #[wire(nullable)]
    pub grant_root: Option<String>,
}

/// Parameters of the request `account/chatgptAuthTokens/refresh`.
#[wire(params, nulls)]
pub struct ChatgptAuthTokensRefreshParams {
    pub reason: ChatgptAuthTokensRefreshReason,
    pub previous_account_id: Option<String>,
}

/// DOC
#[wire(apart)]
pub enum ChatgptAuthTokensRefreshReason {
    Unauthorized,
}

/// DOC
#[wire(fields = "snake")]
pub enum CommandExecutionApprovalDecision {
    #[wire(apart)]
    Accept,
    #[wire(apart)]
    AcceptForSession,
    AcceptWithExecpolicyAmendment {
        execpolicy_amendment: ExecPolicyAmendment,
    },
    ApplyNetworkPolicyAmendment {
        network_policy_amendment: NetworkPolicyAmendment,
    },
    #[wire(apart)]
    Decline,
    #[wire(apart)]
    Cancel,
}

/// Parameters of the request `item/commandExecution/requestApproval`.
#[wire(params)]
pub struct CommandExecutionRequestApprovalParams {
    pub thread_id: String,
    pub turn_id: String,
    pub item_id: String,
    pub approval_id: Option<String>,
    pub reason: Option<String>,
    pub network_approval_context: Option<NetworkApprovalContext>,
    pub command: Option<String>,
    pub cwd: Option<String>,
    pub command_actions: Option<Vec<CommandAction>>,
    #[wire(experimental = "item/commandExecution/requestApproval.additionalPermissions")]
    pub additional_permissions: Option<AdditionalPermissionProfile>,
    pub proposed_execpolicy_amendment: Option<ExecPolicyAmendment>,
    pub proposed_network_policy_amendments: Option<Vec<NetworkPolicyAmendment>>,
    #[wire(
        experimental = "item/commandExecution/requestApproval.availableDecisions",
        sent
    )]
    pub available_decisions: Option<Vec<CommandExecutionApprovalDecision>>,
}

/// Parameters of the request `item/tool/call`.
#[wire(params)]
pub struct DynamicToolCallParams {
    pub thread_id: String,
    pub turn_id: String,
    pub call_id: String,
    pub tool: String,
    pub arguments: Json,
}

/// Parameters of the request `execCommandApproval`.
#[wire(root, params)]
pub struct ExecCommandApprovalParams {
    pub conversation_id: ThreadId,
    pub call_id: String,
    #[wire(nullable)]
    pub approval_id: Option<String>,
    pub command: Vec<String>,
    pub cwd: String,
    #[wire(nullable)]
    pub reason: Option<String>,
    pub parsed_cmd: Vec<ParsedCommand>,
}

/// DOC
#[wire(root, tag = "type", fields = "snake")]
pub enum FileChange {
    Add {
        content: String,
    },
    Delete {
        content: String,
    },
    Update {
        unified_diff: String,
        move_path: Option<String>,
    },
}

/// Parameters of the request `item/fileChange/requestApproval`.
#[wire(params, nulls)]
pub struct FileChangeRequestApprovalParams {
    pub thread_id: String,
    pub turn_id: String,
    pub item_id: String,
    pub reason: Option<String>,
    pub grant_root: Option<String>,
}

/// DOC
#[wire]
pub struct NetworkApprovalContext {
    pub host: String,
    pub protocol: NetworkApprovalProtocol,
}

/// DOC
#[wire]
pub enum NetworkApprovalProtocol {
    Http,
    Https,
    Socks5Tcp,
    Socks5Udp,
}

/// DOC
#[wire(both)]
pub struct NetworkPolicyAmendment {
    pub host: String,
    pub action: NetworkPolicyRuleAction,
}

/// DOC
#[wire(both)]
pub enum NetworkPolicyRuleAction {
    Allow,
    Deny,
}

/// DOC
#[wire(root, tag = "type", snake)]
pub enum ParsedCommand {
    Read {
        cmd: String,
        name: String,
        path: String,
    },
    ListFiles {
        cmd: String,
        path: Option<String>,
    },
    Search {
        cmd: String,
        query: Option<String>,
        path: Option<String>,
    },
    Unknown {
        cmd: String,
    },
}

/// Parameters of the request `item/permissions/requestApproval`.
#[wire(params)]
pub struct PermissionsRequestApprovalParams {
    pub thread_id: String,
    pub turn_id: String,
    pub item_id: String,
    #[wire(nullable)]
    pub reason: Option<String>,
    pub permissions: RequestPermissionProfile,
}

/// DOC
#[wire(closed)]
pub struct RequestPermissionProfile {
    pub network: Option<AdditionalNetworkPermissions>,
    pub file_system: Option<AdditionalFileSystemPermissions>,
}

/// DOC
#[wire]
pub struct ToolRequestUserInputOption {
    pub label: String,
    pub description: String,
}

/// Parameters of the request `item/tool/requestUserInput`.
#[wire(params)]
pub struct ToolRequestUserInputParams {
    pub thread_id: String,
    pub turn_id: String,
    pub item_id: String,
    pub questions: Vec<ToolRequestUserInputQuestion>,
}

/// DOC
#[wire]
pub struct ToolRequestUserInputQuestion {
    pub id: String,
    pub header: String,
    pub question: String,
    #[wire(default)]
    pub is_other: bool,
    #[wire(default)]
    pub is_secret: bool,
    pub options: Option<Vec<ToolRequestUserInputOption>>,
}

/// Answer to the request `item/commandExecution/requestApproval`.
#[wire]
pub struct CommandExecutionRequestApprovalResponse {
    pub decision: CommandExecutionApprovalDecision,
}

/// DOC
#[wire(apart, exhaustive)]
pub enum FileChangeApprovalDecision {
    Accept,
    AcceptForSession,
    Decline,
    Cancel,
}

/// Answer to the request `item/fileChange/requestApproval`.
#[wire]
pub struct FileChangeRequestApprovalResponse {
    pub decision: FileChangeApprovalDecision,
}

/// DOC
#[wire]
pub struct ToolRequestUserInputAnswer {
    pub answers: Vec<String>,
}

/// Answer to the request `item/tool/requestUserInput`.
#[wire]
pub struct ToolRequestUserInputResponse {
    pub answers: BTreeMap<String, ToolRequestUserInputAnswer>,
}

/// DOC
#[wire]
pub struct GrantedPermissionProfile {
    #[wire(sparse)]
    pub network: Option<AdditionalNetworkPermissions>,
    #[wire(sparse)]
    pub file_system: Option<AdditionalFileSystemPermissions>,
}

/// DOC
#[wire(exhaustive)]
pub enum PermissionGrantScope {
    Turn,
    Session,
}

/// Answer to the request `item/permissions/requestApproval`.
#[wire]
pub struct PermissionsRequestApprovalResponse {
    pub permissions: GrantedPermissionProfile,
    #[wire(default = "\"turn\"")]
    pub scope: PermissionGrantScope,
}

/// Answer to the request `item/tool/call`.
#[wire]
pub struct DynamicToolCallResponse {
    pub content_items: Vec<DynamicToolCallOutputContentItem>,
    pub success: bool,
}

/// Answer to the request `account/chatgptAuthTokens/refresh`.
#[wire]
pub struct ChatgptAuthTokensRefreshResponse {
    pub access_token: String,
    pub chatgpt_account_id: String,
    pub chatgpt_plan_type: Option<String>,
}

/// DOC
#[wire(root, exhaustive, snake, fields = "snake")]
pub enum ReviewDecision {
    #[wire(apart)]
    Approved,
    ApprovedExecpolicyAmendment {
        proposed_execpolicy_amendment: ExecPolicyAmendment,
    },
    #[wire(apart)]
    ApprovedForSession,
    NetworkPolicyAmendment {
        network_policy_amendment: NetworkPolicyAmendment,
    },
    #[wire(apart)]
    Denied,
    #[wire(apart)]
    Abort,
}

/// Answer to the request `applyPatchApproval`.
#[wire(root)]
pub struct ApplyPatchApprovalResponse {
    pub decision: ReviewDecision,
}

/// Answer to the request `execCommandApproval`.
#[wire(root)]
pub struct ExecCommandApprovalResponse {
    pub decision: ReviewDecision,
}
