//! What a server asks its clients: approvals, answers of the user, tool calls, fresh tokens.
//! Each question is a request from the server; the first answer of any client counts.

use std::collections::BTreeMap;

use quipu_wire_macros::wire;

use crate::{
    AbsolutePath, CommandAction, DynamicToolCallOutputContentItem, ExecPolicyAmendment, Json,
    ThreadId,
};

/// Paths beyond the sandbox, each with everything below it; null means none.
#[wire]
pub struct AdditionalFileSystemPermissions {
    pub read: Option<Vec<AbsolutePath>>,
    pub write: Option<Vec<AbsolutePath>>,
    /// Path by path, what may be read, written, or neither. That is not supported, so nothing is granted then.
    #[wire(sparse, since = "0.166")]
    pub entries: Option<Vec<Json>>,
}

/// Network access beyond the sandbox.
#[wire]
pub struct AdditionalNetworkPermissions {
    /// Only `true` asks for access, or grants it.
    pub enabled: Option<bool>,
}

/// Rights beyond the sandbox that one command asks for; null parts are not asked for.
#[wire]
pub struct AdditionalPermissionProfile {
    pub network: Option<AdditionalNetworkPermissions>,
    pub file_system: Option<AdditionalFileSystemPermissions>,
}

/// Parameters of the request `applyPatchApproval`, sent only in threads with `legacy_approvals`.
#[wire(root, params)]
pub struct ApplyPatchApprovalParams {
    pub conversation_id: ThreadId,
    /// The model's call that proposes the patch.
    pub call_id: String,
    /// The proposed changes by path.
    pub file_changes: BTreeMap<String, FileChange>,
    /// Why approval is needed, when there is more to say.
    #[wire(nullable)]
    pub reason: Option<String>,
    /// A directory below which the agent wants to write for the rest of the session.
    #[wire(nullable)]
    pub grant_root: Option<String>,
}

/// Parameters of the request `account/chatgptAuthTokens/refresh`.
#[wire(params, nulls)]
pub struct ChatgptAuthTokensRefreshParams {
    pub reason: ChatgptAuthTokensRefreshReason,
    /// The workspace of the refused token, for clients that hold several.
    pub previous_account_id: Option<String>,
}

/// Why the server needs fresh tokens.
#[wire(apart)]
pub enum ChatgptAuthTokensRefreshReason {
    /// The provider refused the current token with status 401.
    Unauthorized,
}

/// The answer to a command that needs approval.
#[wire(fields = "snake")]
pub enum CommandExecutionApprovalDecision {
    /// Runs the command this once.
    #[wire(apart)]
    Accept,
    /// Runs it, and the same command in the same directory later, until the thread is unloaded.
    #[wire(apart)]
    AcceptForSession,
    /// Runs it and saves a rule that allows commands with a prefix, in all threads.
    AcceptWithExecpolicyAmendment {
        /// The prefix to allow, which need not be the proposed one.
        execpolicy_amendment: ExecPolicyAmendment,
    },
    /// Saves a rule for a host; one that denies also declines the command.
    ApplyNetworkPolicyAmendment {
        network_policy_amendment: NetworkPolicyAmendment,
    },
    /// Does not run it; the model is told and the turn goes on.
    #[wire(apart)]
    Decline,
    /// Does not run it and interrupts the turn.
    #[wire(apart)]
    Cancel,
}

/// Parameters of the request `item/commandExecution/requestApproval`.
#[wire(params)]
pub struct CommandExecutionRequestApprovalParams {
    pub thread_id: String,
    pub turn_id: String,
    /// The `commandExecution` item, which `item/started` may not have announced yet.
    pub item_id: String,
    /// When it was asked, in Unix milliseconds.
    #[wire(since = "0.166", hidden_default)]
    pub started_at_ms: i64,
    /// Tells apart several questions about one item; absent if there is only one.
    pub approval_id: Option<String>,
    /// Why the question comes up: the model's reason, a matching rule, a failed sandboxed run.
    pub reason: Option<String>,
    /// Set when the question is about a host; the members about a command are then absent.
    pub network_approval_context: Option<NetworkApprovalContext>,
    /// The command line with shell quoting, as in the item.
    pub command: Option<String>,
    pub cwd: Option<String>,
    /// What the command seems to do, for display.
    pub command_actions: Option<Vec<CommandAction>>,
    /// Rights beyond the sandbox that an approval would give to this command.
    #[wire(experimental = "item/commandExecution/requestApproval.additionalPermissions")]
    pub additional_permissions: Option<AdditionalPermissionProfile>,
    /// A prefix that `acceptWithExecpolicyAmendment` could allow; absent if none is suitable.
    pub proposed_execpolicy_amendment: Option<ExecPolicyAmendment>,
    /// Rules that `applyNetworkPolicyAmendment` could save.
    pub proposed_network_policy_amendments: Option<Vec<NetworkPolicyAmendment>>,
    /// The answers to offer, in order; others are accepted all the same.
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
    /// The id of the `dynamicToolCall` item.
    pub call_id: String,
    /// The namespace that the tool was declared in; absent if it is in none.
    #[wire(since = "0.166", sparse)]
    pub namespace: Option<String>,
    /// A name that `thread/start` declared in `dynamicTools`.
    pub tool: String,
    /// The model's arguments, already parsed.
    pub arguments: Json,
}

/// Parameters of the request `execCommandApproval`, sent only in threads with `legacy_approvals`.
#[wire(root, params)]
pub struct ExecCommandApprovalParams {
    pub conversation_id: ThreadId,
    /// The model's call that wants to run the command.
    pub call_id: String,
    /// Tells apart several questions about one call.
    #[wire(nullable)]
    pub approval_id: Option<String>,
    /// The program and its arguments.
    pub command: Vec<String>,
    pub cwd: String,
    #[wire(nullable)]
    pub reason: Option<String>,
    /// What the command seems to do, for display.
    pub parsed_cmd: Vec<ParsedCommand>,
}

/// The change to one file of a patch, as the first protocol version shows it.
#[wire(root, tag = "type", fields = "snake")]
pub enum FileChange {
    Add {
        /// The whole new file.
        content: String,
    },
    Delete {
        /// The whole file as it was.
        content: String,
    },
    Update {
        unified_diff: String,
        /// The new path, if the file is also moved.
        move_path: Option<String>,
    },
}

/// Parameters of the request `item/fileChange/requestApproval`.
#[wire(params, nulls)]
pub struct FileChangeRequestApprovalParams {
    pub thread_id: String,
    pub turn_id: String,
    /// The `fileChange` item; its `item/started` carried the diff.
    pub item_id: String,
    /// When it was asked, in Unix milliseconds.
    #[wire(since = "0.166", hidden_default)]
    pub started_at_ms: i64,
    /// Set when a patch that failed is to be tried again outside the sandbox.
    pub reason: Option<String>,
    /// A directory below which the agent wants to write for the rest of the session; unstable.
    pub grant_root: Option<String>,
}

/// The host that a sandboxed command tries to reach.
#[wire]
pub struct NetworkApprovalContext {
    pub host: String,
    pub protocol: NetworkApprovalProtocol,
}

/// The way in which a command tries to reach a host.
#[wire]
pub enum NetworkApprovalProtocol {
    Http,
    Https,
    Socks5Tcp,
    Socks5Udp,
}

/// A rule about one host, saved for later requests.
#[wire(both)]
pub struct NetworkPolicyAmendment {
    pub host: String,
    pub action: NetworkPolicyRuleAction,
}

/// What a rule does with its host.
#[wire(both)]
pub enum NetworkPolicyRuleAction {
    Allow,
    Deny,
}

/// What a part of a command line seems to do, as the first protocol version shows it.
#[wire(root, tag = "type", snake)]
pub enum ParsedCommand {
    Read {
        cmd: String,
        name: String,
        /// The path as written in the command.
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
    /// Anything that is not understood.
    Unknown {
        cmd: String,
    },
}

/// Parameters of the request `item/permissions/requestApproval`.
#[wire(params)]
pub struct PermissionsRequestApprovalParams {
    pub thread_id: String,
    pub turn_id: String,
    /// The id of the model's call; no item is announced for it.
    pub item_id: String,
    /// When it was asked, in Unix milliseconds.
    #[wire(since = "0.166", hidden_default)]
    pub started_at_ms: i64,
    /// The working directory, which relative paths would refer to.
    #[wire(since = "0.166", hidden_default)]
    pub cwd: String,
    /// What the model wants the permissions for.
    #[wire(nullable)]
    pub reason: Option<String>,
    pub permissions: RequestPermissionProfile,
}

/// Rights that the model asks for; null parts are not asked for.
#[wire(closed)]
pub struct RequestPermissionProfile {
    pub network: Option<AdditionalNetworkPermissions>,
    pub file_system: Option<AdditionalFileSystemPermissions>,
}

/// An answer that the user can pick.
#[wire]
pub struct ToolRequestUserInputOption {
    /// The text to show, and to send back if picked.
    pub label: String,
    /// What picking it means.
    pub description: String,
}

/// Parameters of the request `item/tool/requestUserInput`.
#[wire(params)]
pub struct ToolRequestUserInputParams {
    pub thread_id: String,
    pub turn_id: String,
    /// The id of the model's call; no item is announced for it.
    pub item_id: String,
    /// Usually one to three.
    pub questions: Vec<ToolRequestUserInputQuestion>,
    /// Whether the turn waits for the answer; it always does.
    #[wire(since = "0.166", hidden_default)]
    pub is_blocking: bool,
}

/// A question to the user.
#[wire]
pub struct ToolRequestUserInputQuestion {
    /// The key under which the answer is given.
    pub id: String,
    /// A title of a few words.
    pub header: String,
    pub question: String,
    /// Whether the user may also write an answer of their own.
    #[wire(default)]
    pub is_other: bool,
    /// Whether the answer must not be shown while it is typed.
    #[wire(default)]
    pub is_secret: bool,
    /// The answers to offer; null asks for free text.
    pub options: Option<Vec<ToolRequestUserInputOption>>,
}

/// Answer to the request `item/commandExecution/requestApproval`.
#[wire]
pub struct CommandExecutionRequestApprovalResponse {
    pub decision: CommandExecutionApprovalDecision,
}

/// The answer to a patch that needs approval.
#[wire(apart, exhaustive)]
pub enum FileChangeApprovalDecision {
    /// Applies the patch this once.
    Accept,
    /// Applies it, and later patches that touch no other files, until the thread is unloaded.
    AcceptForSession,
    /// Leaves the files alone; the model is told and the turn goes on.
    Decline,
    /// Leaves the files alone and interrupts the turn.
    Cancel,
}

/// Answer to the request `item/fileChange/requestApproval`.
#[wire]
pub struct FileChangeRequestApprovalResponse {
    pub decision: FileChangeApprovalDecision,
}

/// The answer to one question.
#[wire]
pub struct ToolRequestUserInputAnswer {
    /// The labels that were picked and the text that was written.
    pub answers: Vec<String>,
}

/// Answer to the request `item/tool/requestUserInput`.
#[wire]
pub struct ToolRequestUserInputResponse {
    /// The answers by the `id` of their question; questions left out count as unanswered.
    pub answers: BTreeMap<String, ToolRequestUserInputAnswer>,
}

/// Rights that the user grants: what is left out is refused, what was not asked for is ignored.
#[wire]
pub struct GrantedPermissionProfile {
    #[wire(sparse)]
    pub network: Option<AdditionalNetworkPermissions>,
    #[wire(sparse)]
    pub file_system: Option<AdditionalFileSystemPermissions>,
}

/// How long granted rights last.
#[wire(exhaustive)]
pub enum PermissionGrantScope {
    /// Until the current turn ends.
    Turn,
    /// Until the thread is unloaded.
    Session,
}

/// Answer to the request `item/permissions/requestApproval`.
#[wire]
pub struct PermissionsRequestApprovalResponse {
    pub permissions: GrantedPermissionProfile,
    #[wire(default = "\"turn\"")]
    pub scope: PermissionGrantScope,
    /// Asks for a review of every later command of the turn. That is not supported, so nothing is granted then.
    #[wire(sparse, since = "0.166")]
    pub strict_auto_review: bool,
}

/// Answer to the request `item/tool/call`.
#[wire]
pub struct DynamicToolCallResponse {
    /// The tool's output for the model, also when it failed.
    pub content_items: Vec<DynamicToolCallOutputContentItem>,
    /// Whether the item ends as `completed` or as `failed`.
    pub success: bool,
}

/// Answer to the request `account/chatgptAuthTokens/refresh`.
#[wire]
pub struct ChatgptAuthTokensRefreshResponse {
    pub access_token: String,
    /// The workspace that the token is for.
    pub chatgpt_account_id: String,
    /// The plan's name; if null, the token's claim counts.
    pub chatgpt_plan_type: Option<String>,
}

/// The answer to an approval request of the first protocol version.
#[wire(root, exhaustive, snake, fields = "snake")]
pub enum ReviewDecision {
    /// Goes ahead this once.
    #[wire(apart)]
    Approved,
    /// Goes ahead and saves a rule that allows commands with a prefix.
    ApprovedExecpolicyAmendment {
        proposed_execpolicy_amendment: ExecPolicyAmendment,
    },
    /// Goes ahead, and asks no more about the same thing in this session.
    #[wire(apart)]
    ApprovedForSession,
    /// Saves a rule for a host; one that denies also declines the command.
    NetworkPolicyAmendment {
        network_policy_amendment: NetworkPolicyAmendment,
    },
    /// Does not go ahead; the turn goes on.
    #[wire(apart)]
    Denied,
    /// Does not go ahead and interrupts the turn.
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
