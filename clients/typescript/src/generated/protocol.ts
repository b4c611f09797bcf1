// GENERATED CODE! DO NOT MODIFY BY HAND!

export type JsonValue = number | string | boolean | Array<JsonValue> | { [key in string]?: JsonValue } | null;

/**
 * An absolute path, with `.` and `..` resolved and links kept.
 */
export type AbsolutePathBuf = string;

/**
 * Who is logged in.
 */
export type Account = { "type": "apiKey" } | { "type": "chatgpt", email: string, planType: PlanType, };

/**
 * Parameters of the notification `account/login/completed`.
 */
export type AccountLoginCompletedNotification = { 
/**
 * The attempt that ended; null for API keys and for tokens of the client.
 */
loginId: string | null, success: boolean, 
/**
 * Why the login failed; null on success.
 */
error: string | null, };

/**
 * Parameters of the notification `account/rateLimits/updated`.
 */
export type AccountRateLimitsUpdatedNotification = { 
/**
 * Comes with every model response, even if the provider reported no limits.
 */
rateLimits: RateLimitSnapshot, };

/**
 * Parameters of the notification `account/updated`.
 */
export type AccountUpdatedNotification = { 
/**
 * Null after a logout.
 */
authMode: AuthMode | null, 
/**
 * Null unless it is a ChatGPT login.
 */
planType: PlanType | null, };

/**
 * The permission profile that a client chose.
 */
export type ActivePermissionProfile = { id: string, 
/**
 * The profile that it is based on; always null.
 */
extends: string | null, };

/**
 * Paths beyond the sandbox, each with everything below it; null means none.
 */
export type AdditionalFileSystemPermissions = { read?: Array<AbsolutePathBuf> | null, write?: Array<AbsolutePathBuf> | null, 
/**
 * Path by path, what may be read, written, or neither. That is not supported, so nothing is granted then.
 */
entries?: Array<JsonValue>, };

/**
 * Network access beyond the sandbox.
 */
export type AdditionalNetworkPermissions = { 
/**
 * Only `true` asks for access, or grants it.
 */
enabled?: boolean | null, };

/**
 * Rights beyond the sandbox that one command asks for; null parts are not asked for.
 */
export type AdditionalPermissionProfile = { network: AdditionalNetworkPermissions | null, fileSystem: AdditionalFileSystemPermissions | null, };

/**
 * Parameters of the notification `item/agentMessage/delta`.
 */
export type AgentMessageDeltaNotification = { threadId: string, turnId: string, itemId: string, 
/**
 * Text to append.
 */
delta: string, };

/**
 *  The path of a sub-agent below its root thread.
 */
export type AgentPath = string;

/**
 * The table `[analytics]`.
 */
export type AnalyticsConfig = { 
/**
 * Whether data about use is sent to the provider.
 */
enabled: boolean | null, } & ({ [key in string]?: JsonValue });

/**
 * Who is behind an app.
 */
export type AppBranding = { category: string | null, developer: string | null, website: string | null, privacyPolicy: string | null, termsOfService: string | null, isDiscoverableApp: boolean, };

/**
 * An app.
 */
export type AppInfo = { id: string, name: string, description: string | null, logoUrl: string | null, logoUrlDark: string | null, distributionChannel: string | null, branding: AppBranding | null, appMetadata: AppMetadata | null, labels: { [key in string]?: string } | null, 
/**
 * The page on which the user can connect it.
 */
installUrl: string | null, 
/**
 * Whether the user has connected it.
 */
isAccessible: boolean, 
/**
 * Whether the configuration and its requirements allow it.
 */
isEnabled: boolean, 
/**
 * The plugins that bring it.
 */
pluginDisplayNames: Array<string>, };

/**
 * Parameters of the notification `app/list/updated`.
 */
export type AppListUpdatedNotification = { 
/**
 * The whole list as far as it is known.
 */
data: Array<AppInfo>, };

/**
 * What the directory of apps knows about an app, passed on as it is.
 */
export type AppMetadata = { review: AppReview | null, categories: Array<string> | null, subCategories: Array<string> | null, seoDescription: string | null, screenshots: Array<AppScreenshot> | null, developer: string | null, version: string | null, versionId: string | null, versionNotes: string | null, firstPartyType: string | null, firstPartyRequiresInstall: boolean | null, showInComposerWhenUnlinked: boolean | null, };

/**
 * What became of the directory's check of an app.
 */
export type AppReview = { status: string, };

/**
 * An image of an app in use.
 */
export type AppScreenshot = { url: string | null, fileId: string | null, 
/**
 * What the user said in it.
 */
userPrompt: string, };

/**
 * What a plugin shows of an app.
 */
export type AppSummary = { id: string, name: string, description: string | null, 
/**
 * The page on which the user can connect it.
 */
installUrl: string | null, 
/**
 * Whether the user has yet to connect it.
 */
needsAuth: boolean, };

/**
 * When a tool of an app asks before it runs.
 */
export type AppToolApproval = "auto" | "prompt" | "approve";

/**
 * The tools of an app, by name.
 */
export type AppToolsConfig = ({ [key in string]?: { approval_mode: AppToolApproval | null, enabled: boolean | null, } });

/**
 * Parameters of the request `applyPatchApproval`, sent only in threads with `legacy_approvals`.
 */
export type ApplyPatchApprovalParams = { conversationId: ThreadId, 
/**
 * The model's call that proposes the patch.
 */
callId: string, 
/**
 * The proposed changes by path.
 */
fileChanges: { [key in string]?: FileChange }, 
/**
 * Why approval is needed, when there is more to say.
 */
reason: string | null, 
/**
 * A directory below which the agent wants to write for the rest of the session.
 */
grantRoot: string | null, };

/**
 * Answer to the request `applyPatchApproval`.
 */
export type ApplyPatchApprovalResponse = { decision: ReviewDecision, };

/**
 * Who answers the agent's approval questions.
 */
export type ApprovalsReviewer = "user" | "guardian_subagent" | "auto_review";

/**
 * The table `[apps]`.
 */
export type AppsConfig = { 
/**
 * Applies to what an app does not set itself.
 */
_default: AppsDefaultConfig | null, } & ({ [key in string]?: { 
/**
 * Applies to tools that `tools` does not name.
 */
default_tools_approval_mode: AppToolApproval | null, 
/**
 * Applies to tools that `tools` does not name.
 */
default_tools_enabled: boolean | null, 
/**
 * Whether tools that may destroy something can be used.
 */
destructive_enabled: boolean | null, enabled: boolean, 
/**
 * Whether tools that reach beyond the app itself can be used.
 */
open_world_enabled: boolean | null, tools: AppToolsConfig | null, } });

/**
 * The table `[apps._default]`.
 */
export type AppsDefaultConfig = { enabled: boolean, 
/**
 * Whether tools that may destroy something can be used.
 */
destructive_enabled: boolean, 
/**
 * Whether tools that reach beyond the app itself can be used.
 */
open_world_enabled: boolean, };

/**
 * Parameters of `app/list`.
 */
export type AppsListParams = { 
/**
 * The `nextCursor` of the page before; absent for the first.
 */
cursor?: string | null, 
/**
 * Apps per page; all if absent.
 */
limit?: number | null, 
/**
 * The thread whose settings decide whether apps are on.
 */
threadId?: string | null, 
/**
 * Asks the sources again instead of using lists of up to an hour ago.
 */
forceRefetch?: boolean, };

/**
 * Result of `app/list`.
 */
export type AppsListResponse = { 
/**
 * Those the user has connected first, then by name.
 */
data: Array<AppInfo>, 
/**
 * Null on the last page.
 */
nextCursor: string | null, };

/**
 * When the agent asks before it acts.
 */
export type AskForApproval = "untrusted" | "on-failure" | "on-request" | { "granular": { 
/**
 * Whether commands and patches may ask to go beyond the sandbox.
 */
sandbox_approval: boolean, 
/**
 * Whether rules about commands may demand a question.
 */
rules: boolean, 
/**
 * Whether skills may ask.
 */
skill_approval?: boolean, 
/**
 * Whether the model may ask for more permissions.
 */
request_permissions?: boolean, 
/**
 * Whether MCP servers may ask.
 */
mcp_elicitations: boolean, } } | "never";

/**
 * How requests to OpenAI are authenticated.
 */
export type AuthMode = "apikey" | "chatgpt" | "chatgptAuthTokens";

/**
 * Who decided about an action.
 */
export type AutoReviewDecisionSource = "agent";

/**
 * Parameters of `account/bedrock/checkGovCloudRequirements`.
 */
export type BedrockCheckGovCloudRequirementsParams = Record<string, never>;

/**
 * Result of `account/bedrock/checkGovCloudRequirements`.
 */
export type BedrockCheckGovCloudRequirementsResponse = { 
/**
 * Always false: no account of Amazon Bedrock is managed.
 */
isGovCloud: boolean, 
/**
 * Always false.
 */
shouldWarn: boolean, };

/**
 * A range of bytes in a text in UTF-8.
 */
export type ByteRange = { start: number, 
/**
 * The byte after the last one.
 */
end: number, };

/**
 * Parameters of `account/login/cancel`.
 */
export type CancelLoginAccountParams = { 
/**
 * The `loginId` from the result of `account/login/start`.
 */
loginId: string, };

/**
 * Result of `account/login/cancel`.
 */
export type CancelLoginAccountResponse = { status: CancelLoginAccountStatus, };

/**
 * What became of an attempt to cancel a login.
 */
export type CancelLoginAccountStatus = "canceled" | "notFound";

/**
 * Parameters of the request `account/chatgptAuthTokens/refresh`.
 */
export type ChatgptAuthTokensRefreshParams = { reason: ChatgptAuthTokensRefreshReason, 
/**
 * The workspace of the refused token, for clients that hold several.
 */
previousAccountId?: string | null, };

/**
 * Why the server needs fresh tokens.
 */
export type ChatgptAuthTokensRefreshReason = "unauthorized";

/**
 * Answer to the request `account/chatgptAuthTokens/refresh`.
 */
export type ChatgptAuthTokensRefreshResponse = { accessToken: string, 
/**
 * The workspace that the token is for.
 */
chatgptAccountId: string, 
/**
 * The plan's name; if null, the token's claim counts.
 */
chatgptPlanType?: string | null, };

/**
 * Who the client is.
 */
export type ClientInfo = { 
/**
 * Sent to model providers, so it must be valid as the value of an HTTP header.
 */
name: string, 
/**
 * A name for people.
 */
title?: string | null, version: string, };

/**
 * What kind of error it was, for programs; a status is null if the provider gave none.
 */
export type CodexErrorInfo = "contextWindowExceeded" | "usageLimitExceeded" | "serverOverloaded" | { "httpConnectionFailed": { httpStatusCode: number | null, } } | { "responseStreamConnectionFailed": { httpStatusCode: number | null, } } | "internalServerError" | "unauthorized" | "badRequest" | "threadRollbackFailed" | "sandboxError" | { "responseStreamDisconnected": { httpStatusCode: number | null, } } | { "responseTooManyFailedAttempts": { httpStatusCode: number | null, } } | { "activeTurnNotSteerable": { turnKind: NonSteerableTurnKind, } } | "other";

/**
 * The state of a sub-agent, and what it said last.
 */
export type CollabAgentState = { status: CollabAgentStatus, 
/**
 * What it said last if `completed`, what went wrong if `errored`, else null.
 */
message: string | null, };

/**
 * The state of a sub-agent.
 */
export type CollabAgentStatus = "pendingInit" | "running" | "interrupted" | "completed" | "errored" | "shutdown" | "notFound";

/**
 * What an agent does with its sub-agents.
 */
export type CollabAgentTool = "spawnAgent" | "sendInput" | "resumeAgent" | "wait" | "closeAgent";

/**
 * How far a call about sub-agents has come.
 */
export type CollabAgentToolCallStatus = "inProgress" | "completed" | "failed";

/**
 * A way of working together, with its settings.
 */
export type CollaborationMode = { mode: ModeKind, settings: Settings, };

/**
 * Parameters of `collaborationMode/list`.
 */
export type CollaborationModeListParams = Record<string, never>;

/**
 * Result of `collaborationMode/list`.
 */
export type CollaborationModeListResponse = { data: Array<CollaborationModeMask>, };

/**
 * A preset of a way of working together; null members leave things as they are.
 */
export type CollaborationModeMask = { 
/**
 * The name to show.
 */
name: string, mode: ModeKind | null, model: string | null, reasoning_effort: ReasoningEffort | null, };

/**
 * What a part of a command line seems to do; a guess, for display only.
 */
export type CommandAction = { "type": "read", 
/**
 * The part of the command line.
 */
command: string, 
/**
 * The name of the file, to show.
 */
name: string, 
/**
 * The path as written, below the target of a `cd` before it.
 */
path: string, } | { "type": "listFiles", 
/**
 * The part of the command line.
 */
command: string, path: string | null, } | { "type": "search", 
/**
 * The part of the command line.
 */
command: string, query: string | null, path: string | null, } | { "type": "unknown", 
/**
 * The whole command line.
 */
command: string, };

/**
 * Parameters of the notification `command/exec/outputDelta`.
 */
export type CommandExecOutputDeltaNotification = { processId: string, stream: CommandExecOutputStream, 
/**
 * The next bytes of the stream, in base64.
 */
deltaBase64: string, 
/**
 * The cap is full: the rest of this stream is dropped while the command runs on.
 */
capReached: boolean, };

/**
 * Where output came from.
 */
export type CommandExecOutputStream = "stdout" | "stderr";

/**
 * Parameters of `command/exec`.
 */
export type CommandExecParams = { 
/**
 * The program and its arguments; no shell is involved. It must not be empty.
 */
command: Array<string>, 
/**
 * A name that is unique among the running commands of this connection. Required for `tty` and
 * streaming, and to write to, resize or terminate the command.
 */
processId?: string | null, 
/**
 * Runs the command in a terminal, with input and output streamed and all output on `stdout`.
 */
tty?: boolean, 
/**
 * Keeps standard input open for `command/exec/write`; otherwise it is closed from the start.
 */
streamStdin?: boolean, 
/**
 * Sends output in `command/exec/outputDelta` as it comes; the result then has none.
 */
streamStdoutStderr?: boolean, 
/**
 * The most bytes of output to keep per stream; 1048576 (1 MiB) if absent.
 */
outputBytesCap?: number | null, 
/**
 * Keeps all output; excludes `outputBytesCap`.
 */
disableOutputCap?: boolean, 
/**
 * Sets no time limit; excludes `timeoutMs`.
 */
disableTimeout?: boolean, 
/**
 * Milliseconds until the command is killed; 10000 if absent, and 0 kills it at once.
 */
timeoutMs?: number | null, 
/**
 * The directory to run in, relative to the server's own, which is also the default.
 */
cwd?: string | null, 
/**
 * Changes to the environment that the configuration yields: a string sets, null removes.
 */
env?: { [key in string]?: string | null } | null, 
/**
 * The terminal's first size, 24 rows and 80 columns if absent; only with `tty`.
 */
size?: CommandExecTerminalSize | null, 
/**
 * The sandbox for this command; the configured one if absent.
 */
sandboxPolicy?: SandboxPolicy | null, 
/**
 * The id of a permission profile, in place of `sandboxPolicy`; see `thread/start`.
 */
permissionProfile?: string | null, };

/**
 * Parameters of `command/exec/resize`.
 */
export type CommandExecResizeParams = { processId: string, size: CommandExecTerminalSize, };

/**
 * Result of `command/exec/resize`.
 */
export type CommandExecResizeResponse = Record<string, never>;

/**
 * Result of `command/exec`.
 */
export type CommandExecResponse = { 
/**
 * The exit status; 124 after the timeout, -1 after a signal outside a terminal.
 */
exitCode: number, 
/**
 * Empty if the output was streamed.
 */
stdout: string, 
/**
 * Empty if the output was streamed.
 */
stderr: string, };

/**
 * The size of a terminal in character cells; neither number may be 0.
 */
export type CommandExecTerminalSize = { rows: number, cols: number, };

/**
 * Parameters of `command/exec/terminate`.
 */
export type CommandExecTerminateParams = { processId: string, };

/**
 * Result of `command/exec/terminate`.
 */
export type CommandExecTerminateResponse = Record<string, never>;

/**
 * Parameters of `command/exec/write`.
 */
export type CommandExecWriteParams = { processId: string, 
/**
 * Bytes to write, in base64 with padding; needed unless `closeStdin` is set.
 */
deltaBase64?: string | null, 
/**
 * Closes standard input, after the bytes if there are any.
 */
closeStdin?: boolean, };

/**
 * Result of `command/exec/write`.
 */
export type CommandExecWriteResponse = Record<string, never>;

/**
 * The answer to a command that needs approval.
 */
export type CommandExecutionApprovalDecision = "accept" | "acceptForSession" | { "acceptWithExecpolicyAmendment": { 
/**
 * The prefix to allow, which need not be the proposed one.
 */
execpolicy_amendment: ExecPolicyAmendment, } } | { "applyNetworkPolicyAmendment": { network_policy_amendment: NetworkPolicyAmendment, } } | "decline" | "cancel";

/**
 * Parameters of the notification `item/commandExecution/outputDelta`.
 */
export type CommandExecutionOutputDeltaNotification = { threadId: string, turnId: string, itemId: string, 
/**
 * Output to append, of either stream; bytes that are not UTF-8 are replaced.
 */
delta: string, };

/**
 * Parameters of the request `item/commandExecution/requestApproval`.
 */
export type CommandExecutionRequestApprovalParams = { threadId: string, turnId: string, 
/**
 * The `commandExecution` item, which `item/started` may not have announced yet.
 */
itemId: string, 
/**
 * When it was asked, in Unix milliseconds.
 */
startedAtMs?: number, 
/**
 * Tells apart several questions about one item; absent if there is only one.
 */
approvalId?: string | null, 
/**
 * Why the question comes up: the model's reason, a matching rule, a failed sandboxed run.
 */
reason?: string | null, 
/**
 * Set when the question is about a host; the members about a command are then absent.
 */
networkApprovalContext?: NetworkApprovalContext | null, 
/**
 * The command line with shell quoting, as in the item.
 */
command?: string | null, cwd?: string | null, 
/**
 * What the command seems to do, for display.
 */
commandActions?: Array<CommandAction> | null, 
/**
 * Rights beyond the sandbox that an approval would give to this command.
 */
additionalPermissions?: AdditionalPermissionProfile | null, 
/**
 * A prefix that `acceptWithExecpolicyAmendment` could allow; absent if none is suitable.
 */
proposedExecpolicyAmendment?: ExecPolicyAmendment | null, 
/**
 * Rules that `applyNetworkPolicyAmendment` could save.
 */
proposedNetworkPolicyAmendments?: Array<NetworkPolicyAmendment> | null, 
/**
 * The answers to offer, in order; others are accepted all the same.
 */
availableDecisions?: Array<CommandExecutionApprovalDecision> | null, };

/**
 * Answer to the request `item/commandExecution/requestApproval`.
 */
export type CommandExecutionRequestApprovalResponse = { decision: CommandExecutionApprovalDecision, };

/**
 * Who started a command, and how.
 */
export type CommandExecutionSource = "agent" | "userShell" | "unifiedExecStartup" | "unifiedExecInteraction";

/**
 * How far a command has come.
 */
export type CommandExecutionStatus = "inProgress" | "completed" | "failed" | "declined";

/**
 * The settings; null where no layer sets one.
 */
export type Config = { model: string | null, 
/**
 * The model of `review/start`; the thread's if null.
 */
review_model: string | null, 
/**
 * Tokens that the model can hold, in place of what the catalogue says.
 */
model_context_window: number | null, 
/**
 * Tokens in use at which the history is compacted, at most 90 % of the window.
 */
model_auto_compact_token_limit: number | null, 
/**
 * A key of `model_providers`; `openai` if null.
 */
model_provider: string | null, 
/**
 * If null, `untrusted` for projects marked so, else `on-request`.
 */
approval_policy: AskForApproval | null, approvals_reviewer: ApprovalsReviewer | null, 
/**
 * If null, `workspace-write` for projects with a trust entry, else `read-only`.
 */
sandbox_mode: SandboxMode | null, 
/**
 * What the mode `workspace-write` allows.
 */
sandbox_workspace_write: SandboxWorkspaceWrite | null, 
/**
 * The only workspace that a ChatGPT login may use.
 */
forced_chatgpt_workspace_id: string | null, 
/**
 * The only login that is possible.
 */
forced_login_method: ForcedLoginMethod | null, 
/**
 * `cached` if null.
 */
web_search: WebSearchMode | null, tools: ToolsV2 | null, 
/**
 * The selected key of `profiles`.
 */
profile: string | null, 
/**
 * Sets of settings to select from.
 */
profiles: { [key in string]?: ProfileV2 }, 
/**
 * Has no effect; kept for older files.
 */
instructions: string | null, 
/**
 * Given to the model besides its own instructions.
 */
developer_instructions: string | null, 
/**
 * Replaces the built-in prompt that asks the model to sum up its history.
 */
compact_prompt: string | null, 
/**
 * The model's default if null.
 */
model_reasoning_effort: ReasoningEffort | null, model_reasoning_summary: ReasoningSummary | null, 
/**
 * The model's default if null.
 */
model_verbosity: Verbosity | null, service_tier: ServiceTier | null, analytics: AnalyticsConfig | null, apps: AppsConfig | null, } & ({ [key in string]?: JsonValue });

/**
 * Parameters of `config/batchWrite`.
 */
export type ConfigBatchWriteParams = { 
/**
 * Applied in order, all or none.
 */
edits: Array<ConfigEdit>, 
/**
 * Must be the user's `config.toml`, which is also the default.
 */
filePath?: string | null, 
/**
 * The `version` of the user layer that the client knows; if it has changed, nothing is
 * written.
 */
expectedVersion?: string | null, 
/**
 * Lets loaded threads use the new values from their next turn on.
 */
reloadUserConfig?: boolean, };

/**
 * One edit of several.
 */
export type ConfigEdit = { 
/**
 * The dotted path of the key; keys that themselves contain a dot cannot be addressed.
 */
keyPath: string, 
/**
 * The new value; null deletes the key.
 */
value: JsonValue, mergeStrategy: MergeStrategy, };

/**
 * One source of settings, with what it sets.
 */
export type ConfigLayer = { name: ConfigLayerSource, 
/**
 * Changes with the content: `sha256:` and a hash in hex.
 */
version: string, 
/**
 * The values of this layer alone.
 */
config: JsonValue, 
/**
 * Why the layer does not count, such as an untrusted project; absent if it counts.
 */
disabledReason: string | null, };

/**
 * One source of settings.
 */
export type ConfigLayerMetadata = { name: ConfigLayerSource, 
/**
 * Changes with the content: `sha256:` and a hash in hex.
 */
version: string, };

/**
 * Where a layer comes from; each kind here wins over the ones before it.
 */
export type ConfigLayerSource = { "type": "mdm", domain: string, key: string, } | { "type": "system", 
/**
 * `/etc/codex/config.toml`, which need not exist.
 */
file: AbsolutePathBuf, } | { "type": "user", 
/**
 * `config.toml` in the Codex home, which need not exist.
 */
file: AbsolutePathBuf, } | { "type": "project", 
/**
 * A `.codex` directory between the project's root and the working directory.
 */
dotCodexFolder: AbsolutePathBuf, } | { "type": "sessionFlags" } | { "type": "legacyManagedConfigTomlFromFile", 
/**
 * `/etc/codex/managed_config.toml`.
 */
file: AbsolutePathBuf, } | { "type": "legacyManagedConfigTomlFromMdm" };

/**
 * Parameters of `config/read`.
 */
export type ConfigReadParams = { 
/**
 * Also returns each layer with its own values.
 */
includeLayers?: boolean, 
/**
 * The directory whose project layers count; without it there are none.
 */
cwd?: string | null, };

/**
 * Result of `config/read`.
 */
export type ConfigReadResponse = { 
/**
 * The effective values, without those of the selected profile.
 */
config: Config, 
/**
 * For each single value that a layer sets, by dotted path, the layer that won.
 */
origins: { [key in string]?: ConfigLayerMetadata }, 
/**
 * The strongest first, disabled ones included; absent unless asked for.
 */
layers: Array<ConfigLayer> | null, };

/**
 * What an administrator demands; null where nothing is demanded.
 */
export type ConfigRequirements = { allowedApprovalPolicies: Array<AskForApproval> | null, 
/**
 * Always has `read-only` in it.
 */
allowedSandboxModes: Array<SandboxMode> | null, 
/**
 * Always has `disabled` in it.
 */
allowedWebSearchModes: Array<WebSearchMode> | null, 
/**
 * Features that are fixed on or off, by name.
 */
featureRequirements: { [key in string]?: boolean } | null, 
/**
 * Where the provider must process requests.
 */
enforceResidency: ResidencyRequirement | null, 
/**
 * Rules for commands that reach the network through the server's proxy.
 */
network: NetworkRequirements | null, };

/**
 * Result of `configRequirements/read`.
 */
export type ConfigRequirementsReadResponse = { 
/**
 * Null if nothing is demanded.
 */
requirements: ConfigRequirements | null, };

/**
 * Parameters of `config/value/write`.
 */
export type ConfigValueWriteParams = { 
/**
 * The dotted path of the key; keys that themselves contain a dot cannot be addressed.
 */
keyPath: string, 
/**
 * The new value; null deletes the key.
 */
value: JsonValue, mergeStrategy: MergeStrategy, 
/**
 * Must be the user's `config.toml`, which is also the default.
 */
filePath?: string | null, 
/**
 * The `version` of the user layer that the client knows; if it has changed, nothing is
 * written.
 */
expectedVersion?: string | null, };

/**
 * Parameters of the notification `configWarning`.
 */
export type ConfigWarningNotification = { 
/**
 * What is wrong, in one line.
 */
summary: string, 
/**
 * What exactly is wrong, if there is more to say.
 */
details: string | null, 
/**
 * The file at fault, if it is a single one.
 */
path?: string, 
/**
 * The place in that file.
 */
range?: TextRange, };

/**
 * Result of `config/value/write` and `config/batchWrite`.
 */
export type ConfigWriteResponse = { status: WriteStatus, 
/**
 * The user layer's new version, to give as the next `expectedVersion`.
 */
version: string, filePath: AbsolutePathBuf, 
/**
 * Set with `okOverridden`, about the first value concerned.
 */
overriddenMetadata: OverriddenMetadata | null, };

/**
 * A part of a message.
 */
export type ContentItem = { "type": "input_text", text: string, } | { "type": "input_image", 
/**
 * An `http`, `https` or `data` URL.
 */
image_url: string, } | { "type": "output_text", text: string, };

/**
 * Parameters of the notification `thread/compacted`; deprecated, the `contextCompaction` item says
 * the same.
 */
export type ContextCompactedNotification = { threadId: string, turnId: string, };

/**
 * The state of the repository a conversation was started in.
 */
export type ConversationGitInfo = { sha: string | null, branch: string | null, origin_url: string | null, };

/**
 * What a list of conversations shows of one.
 */
export type ConversationSummary = { conversationId: ThreadId, path: string, 
/**
 * The user's first message.
 */
preview: string, 
/**
 * When it began.
 */
timestamp: string | null, updatedAt: string | null, modelProvider: string, cwd: string, 
/**
 * The version of the program that wrote it first.
 */
cliVersion: string, source: LegacySessionSource, gitInfo: ConversationGitInfo | null, };

/**
 * The prepaid credits of an account.
 */
export type CreditsSnapshot = { hasCredits: boolean, 
/**
 * Whether use is not limited by the balance.
 */
unlimited: boolean, 
/**
 * The balance in the provider's own notation, for display.
 */
balance: string | null, };

/**
 * Parameters of the notification `deprecationNotice`.
 */
export type DeprecationNoticeNotification = { 
/**
 * What is deprecated.
 */
summary: string, 
/**
 * Why, and what to do instead, if there is more to say.
 */
details: string | null, };

/**
 * A part of what a tool of the client returns.
 */
export type DynamicToolCallOutputContentItem = { "type": "inputText", text: string, } | { "type": "inputImage", 
/**
 * An `http`, `https` or `data` URL.
 */
imageUrl: string, };

/**
 * Parameters of the request `item/tool/call`.
 */
export type DynamicToolCallParams = { threadId: string, turnId: string, 
/**
 * The id of the `dynamicToolCall` item.
 */
callId: string, 
/**
 * The namespace that the tool was declared in; absent if it is in none.
 */
namespace?: string, 
/**
 * A name that `thread/start` declared in `dynamicTools`.
 */
tool: string, 
/**
 * The model's arguments, already parsed.
 */
arguments: JsonValue, };

/**
 * Answer to the request `item/tool/call`.
 */
export type DynamicToolCallResponse = { 
/**
 * The tool's output for the model, also when it failed.
 */
contentItems: Array<DynamicToolCallOutputContentItem>, 
/**
 * Whether the item ends as `completed` or as `failed`.
 */
success: boolean, };

/**
 * How far a call of a client's tool has come.
 */
export type DynamicToolCallStatus = "inProgress" | "completed" | "failed";

/**
 * A tool that the client brings; the model's calls come as `item/tool/call`.
 */
export type DynamicToolSpec = { 
/**
 * Unique in the thread; neither `mcp` nor beginning with `mcp__`.
 */
name: string, 
/**
 * What the model goes by to use it.
 */
description: string, 
/**
 * A JSON Schema of its arguments.
 */
inputSchema: JsonValue, 
/**
 * Keeps it off the list that the model gets, until the model finds it by `tool_search` or calls it.
 */
deferLoading?: boolean, 
/**
 * The namespace that it was declared in. The model calls it by both names, with two underscores between them,
 * which is its `name` here.
 */
namespace?: string, };

/**
 * Parameters of `environment/info`.
 */
export type EnvironmentInfoParams = { environmentId: string, };

/**
 * Result of `environment/info`.
 */
export type EnvironmentInfoResponse = { shell: EnvironmentShellInfo, 
/**
 * The working directory of the server, as a `file:` URL.
 */
cwd: string | null, };

/**
 * The shell of an environment.
 */
export type EnvironmentShellInfo = { 
/**
 * Such as `bash`.
 */
name: string, path: string, };

/**
 * Whether an environment can be used.
 */
export type EnvironmentStatusKind = "ready" | "pending" | "disconnected" | "unknown";

/**
 * Parameters of `environment/status`.
 */
export type EnvironmentStatusParams = { environmentId: string, };

/**
 * Result of `environment/status`.
 */
export type EnvironmentStatusResponse = { status: EnvironmentStatusKind, 
/**
 * Why it is unknown or disconnected.
 */
error?: string | null, };

/**
 * Parameters of the notification `error`.
 */
export type ErrorNotification = { error: TurnError, 
/**
 * Whether the model request is made again; if not, the turn fails.
 */
willRetry: boolean, threadId: string, turnId: string, };

/**
 * What a client that resumes gets of the events it missed.
 */
export type EventReplay = "complete" | "condensed" | "reset";

/**
 * Parameters of the request `execCommandApproval`, sent only in threads with `legacy_approvals`.
 */
export type ExecCommandApprovalParams = { conversationId: ThreadId, 
/**
 * The model's call that wants to run the command.
 */
callId: string, 
/**
 * Tells apart several questions about one call.
 */
approvalId: string | null, 
/**
 * The program and its arguments.
 */
command: Array<string>, cwd: string, reason: string | null, 
/**
 * What the command seems to do, for display.
 */
parsedCmd: Array<ParsedCommand>, };

/**
 * Answer to the request `execCommandApproval`.
 */
export type ExecCommandApprovalResponse = { decision: ReviewDecision, };

/**
 *  A command prefix to allow from now on, word by word.
 */
export type ExecPolicyAmendment = Array<string>;

/**
 * A feature that can be switched on and off.
 */
export type ExperimentalFeature = { 
/**
 * The key in the table `[features]`.
 */
name: string, stage: ExperimentalFeatureStage, 
/**
 * Null unless in `beta`.
 */
displayName: string | null, 
/**
 * Null unless in `beta`.
 */
description: string | null, 
/**
 * Null unless in `beta`.
 */
announcement: string | null, 
/**
 * Whether it is on now.
 */
enabled: boolean, 
/**
 * Whether it is on if nothing is configured.
 */
defaultEnabled: boolean, };

/**
 * Parameters of `experimentalFeature/enablement/set`.
 */
export type ExperimentalFeatureEnablementSetParams = { 
/**
 * Features to switch by name, until the server exits. What the configuration sets still wins.
 */
enablement: { [key in string]?: boolean }, };

/**
 * Result of `experimentalFeature/enablement/set`.
 */
export type ExperimentalFeatureEnablementSetResponse = { 
/**
 * The same as in the request.
 */
enablement: { [key in string]?: boolean }, };

/**
 * Parameters of `experimentalFeature/list`.
 */
export type ExperimentalFeatureListParams = { 
/**
 * The `nextCursor` of the page before; absent for the first.
 */
cursor?: string | null, 
/**
 * Features per page; all if absent.
 */
limit?: number | null, };

/**
 * Result of `experimentalFeature/list`.
 */
export type ExperimentalFeatureListResponse = { data: Array<ExperimentalFeature>, 
/**
 * Null on the last page.
 */
nextCursor: string | null, };

/**
 * How ready a feature is.
 */
export type ExperimentalFeatureStage = "beta" | "underDevelopment" | "stable" | "deprecated" | "removed";

/**
 * Parameters of `externalAgentConfig/detect`.
 */
export type ExternalAgentConfigDetectParams = { 
/**
 * Also looks in the user's home directory.
 */
includeHome?: boolean, 
/**
 * Directories whose repositories to look in.
 */
cwds?: Array<string> | null, };

/**
 * Result of `externalAgentConfig/detect`.
 */
export type ExternalAgentConfigDetectResponse = { items: Array<ExternalAgentConfigMigrationItem>, };

/**
 * `externalAgentConfig/import/completed`.
 */
export type ExternalAgentConfigImportCompletedNotification = { importId: string, 
/**
 * By kind, in the order in which they were first taken over.
 */
itemTypeResults: Array<ExternalAgentConfigImportTypeResult>, };

/**
 * Something that could not be taken over.
 */
export type ExternalAgentConfigImportItemTypeFailure = { itemType: ExternalAgentConfigMigrationItemType, errorType: string | null, subErrorType: string | null, failureStage: string, message: string, cwd: string | null, source: string | null, };

/**
 * Something that was taken over.
 */
export type ExternalAgentConfigImportItemTypeSuccess = { itemType: ExternalAgentConfigMigrationItemType, cwd: string | null, source: string | null, target: string | null, 
/**
 * Always null: no sessions are taken over.
 */
title: string | null, };

/**
 * Parameters of `externalAgentConfig/import`.
 */
export type ExternalAgentConfigImportParams = { 
/**
 * Taken over in order, until one fails.
 */
migrationItems: Array<ExternalAgentConfigMigrationItem>, };

/**
 * Result of `externalAgentConfig/import`.
 */
export type ExternalAgentConfigImportResponse = { 
/**
 * Names the import in `externalAgentConfig/import/completed`.
 */
importId?: string, };

/**
 * What became of the items of one kind.
 */
export type ExternalAgentConfigImportTypeResult = { itemType: ExternalAgentConfigMigrationItemType, successes: Array<ExternalAgentConfigImportItemTypeSuccess>, 
/**
 * Always empty: an import that fails is answered with an error.
 */
failures: Array<ExternalAgentConfigImportItemTypeFailure>, };

/**
 * Something that can be taken over.
 */
export type ExternalAgentConfigMigrationItem = { itemType: ExternalAgentConfigMigrationItemType, 
/**
 * What is copied from where to where, for the user.
 */
description: string, 
/**
 * The repository it is found in; null for the home directory.
 */
cwd?: string | null, };

/**
 * What kind of thing can be taken over.
 */
export type ExternalAgentConfigMigrationItemType = "AGENTS_MD" | "CONFIG" | "SKILLS" | "MCP_SERVER_CONFIG";

/**
 * Parameters of `feedback/upload`.
 */
export type FeedbackUploadParams = { 
/**
 * The kind of report, such as `bug`, `bad_result` or `safety_check`.
 */
classification: string, 
/**
 * The user's own words.
 */
reason?: string | null, threadId?: string | null, 
/**
 * Attaches the server's log.
 */
includeLogs: boolean, 
/**
 * Paths of more files to attach; those that cannot be read are skipped.
 */
extraLogFiles?: Array<string> | null, };

/**
 * Result of `feedback/upload`.
 */
export type FeedbackUploadResponse = { 
/**
 * What the report is filed under; made up if it names no thread.
 */
threadId: string, };

/**
 * The change to one file of a patch, as the first protocol version shows it.
 */
export type FileChange = { "type": "add", 
/**
 * The whole new file.
 */
content: string, } | { "type": "delete", 
/**
 * The whole file as it was.
 */
content: string, } | { "type": "update", unified_diff: string, 
/**
 * The new path, if the file is also moved.
 */
move_path: string | null, };

/**
 * The answer to a patch that needs approval.
 */
export type FileChangeApprovalDecision = "accept" | "acceptForSession" | "decline" | "cancel";

/**
 * Parameters of the notification `item/fileChange/outputDelta`.
 */
export type FileChangeOutputDeltaNotification = { threadId: string, turnId: string, itemId: string, 
/**
 * What the model is told about the patch.
 */
delta: string, };

/**
 * Parameters of the request `item/fileChange/requestApproval`.
 */
export type FileChangeRequestApprovalParams = { threadId: string, turnId: string, 
/**
 * The `fileChange` item; its `item/started` carried the diff.
 */
itemId: string, 
/**
 * When it was asked, in Unix milliseconds.
 */
startedAtMs?: number, 
/**
 * Set when a patch that failed is to be tried again outside the sandbox.
 */
reason?: string | null, 
/**
 * A directory below which the agent wants to write for the rest of the session; unstable.
 */
grantRoot?: string | null, };

/**
 * Answer to the request `item/fileChange/requestApproval`.
 */
export type FileChangeRequestApprovalResponse = { decision: FileChangeApprovalDecision, };

/**
 * The change to one file of a patch.
 */
export type FileUpdateChange = { 
/**
 * The absolute path, before a move.
 */
path: string, kind: PatchChangeKind, 
/**
 * The hunks of an update, without file headers; else the whole file.
 */
diff: string, };

/**
 * The only login that is possible.
 */
export type ForcedLoginMethod = "chatgpt" | "api";

/**
 * Parameters of the notification `fs/changed`.
 */
export type FsChangedNotification = { watchId: string, 
/**
 * What was created, changed, renamed or removed; sorted, each path once.
 */
changedPaths: Array<AbsolutePathBuf>, };

/**
 * Parameters of `fs/copy`.
 */
export type FsCopyParams = { 
/**
 * A file, a directory or a link, which is copied as a link.
 */
sourcePath: AbsolutePathBuf, 
/**
 * An existing file is overwritten, an existing directory is added to.
 */
destinationPath: AbsolutePathBuf, 
/**
 * Needed to copy a directory.
 */
recursive?: boolean, };

/**
 * Result of `fs/copy`.
 */
export type FsCopyResponse = Record<string, never>;

/**
 * Parameters of `fs/createDirectory`.
 */
export type FsCreateDirectoryParams = { path: AbsolutePathBuf, 
/**
 * Also creates missing parents and accepts an existing directory; `true` if absent.
 */
recursive?: boolean | null, };

/**
 * Result of `fs/createDirectory`.
 */
export type FsCreateDirectoryResponse = Record<string, never>;

/**
 * Parameters of `fs/getMetadata`.
 */
export type FsGetMetadataParams = { 
/**
 * Links are followed.
 */
path: AbsolutePathBuf, };

/**
 * Result of `fs/getMetadata`.
 */
export type FsGetMetadataResponse = { isDirectory: boolean, isFile: boolean, 
/**
 * Whether the path itself is a link; the other members are about what it points to.
 */
isSymlink?: boolean, 
/**
 * In Unix milliseconds; 0 if unknown.
 */
createdAtMs: number, 
/**
 * In Unix milliseconds; 0 if unknown.
 */
modifiedAtMs: number, };

/**
 * One child of a directory; links count as what they point to.
 */
export type FsReadDirectoryEntry = { 
/**
 * The name without the directory.
 */
fileName: string, isDirectory: boolean, isFile: boolean, };

/**
 * Parameters of `fs/readDirectory`.
 */
export type FsReadDirectoryParams = { path: AbsolutePathBuf, };

/**
 * Result of `fs/readDirectory`.
 */
export type FsReadDirectoryResponse = { 
/**
 * In no particular order, hidden ones included.
 */
entries: Array<FsReadDirectoryEntry>, };

/**
 * Parameters of `fs/readFile`.
 */
export type FsReadFileParams = { 
/**
 * A file of at most 512 MiB; links are followed.
 */
path: AbsolutePathBuf, };

/**
 * Result of `fs/readFile`.
 */
export type FsReadFileResponse = { 
/**
 * The whole content, in base64.
 */
dataBase64: string, };

/**
 * Parameters of `fs/remove`.
 */
export type FsRemoveParams = { 
/**
 * A link is removed, not what it points to.
 */
path: AbsolutePathBuf, 
/**
 * Removes a directory with all it holds; `true` if absent.
 */
recursive?: boolean | null, 
/**
 * Accepts that there is nothing to remove; `true` if absent.
 */
force?: boolean | null, };

/**
 * Result of `fs/remove`.
 */
export type FsRemoveResponse = Record<string, never>;

/**
 * Parameters of `fs/unwatch`.
 */
export type FsUnwatchParams = { watchId: string, };

/**
 * Result of `fs/unwatch`.
 */
export type FsUnwatchResponse = Record<string, never>;

/**
 * Parameters of `fs/watch`.
 */
export type FsWatchParams = { 
/**
 * A file, or a directory whose direct children count.
 */
path: AbsolutePathBuf, 
/**
 * The name of the watch; if absent, the server makes one.
 */
watchId?: string | null, };

/**
 * Result of `fs/watch`.
 */
export type FsWatchResponse = { 
/**
 * Names the watch on this connection.
 */
watchId: string, 
/**
 * The watched path without `.` and `..`; links are kept.
 */
path: AbsolutePathBuf, };

/**
 * Parameters of `fs/writeFile`.
 */
export type FsWriteFileParams = { 
/**
 * Created or overwritten; its directory must exist.
 */
path: AbsolutePathBuf, 
/**
 * The whole content, in base64.
 */
dataBase64: string, };

/**
 * Result of `fs/writeFile`.
 */
export type FsWriteFileResponse = Record<string, never>;

/**
 * What a tool returned.
 */
export type FunctionCallOutputBody = string | Array<FunctionCallOutputContentItem>;

/**
 * A part of what a tool returned.
 */
export type FunctionCallOutputContentItem = { "type": "input_text", text: string, } | { "type": "input_image", 
/**
 * An `http`, `https` or `data` URL.
 */
image_url: string, detail?: ImageDetail, };

/**
 * What was found.
 */
export type FuzzyFileSearchMatchType = "file" | "directory";

/**
 * Parameters of `fuzzyFileSearch`.
 */
export type FuzzyFileSearchParams = { 
/**
 * Words that must all match; case counts only if there is a capital. Empty finds nothing.
 */
query: string, 
/**
 * Directories to search; hidden files are found, files that Git ignores are not.
 */
roots: Array<string>, 
/**
 * A newer search with the same token makes this one needless.
 */
cancellationToken?: string | null, };

/**
 * Result of `fuzzyFileSearch`.
 */
export type FuzzyFileSearchResponse = { 
/**
 * At most 50, the best first.
 */
files: Array<FuzzyFileSearchResult>, };

/**
 * A file or directory that matches a query.
 */
export type FuzzyFileSearchResult = { 
/**
 * The directory of the request that it was found in.
 */
root: string, 
/**
 * The path below `root`.
 */
path: string, match_type: FuzzyFileSearchMatchType, file_name: string, 
/**
 * The higher the better; comparable within one query only.
 */
score: number, 
/**
 * The characters of `path` that match, counted from 0 in ascending order.
 */
indices: Array<number> | null, };

/**
 * Parameters of the notification `fuzzyFileSearch/sessionCompleted`.
 */
export type FuzzyFileSearchSessionCompletedNotification = { sessionId: string, };

/**
 * Parameters of `fuzzyFileSearch/sessionStart`.
 */
export type FuzzyFileSearchSessionStartParams = { 
/**
 * Chosen by the client; an older session of this name ends.
 */
sessionId: string, 
/**
 * Directories to search; at least one.
 */
roots: Array<string>, };

/**
 * Result of `fuzzyFileSearch/sessionStart`.
 */
export type FuzzyFileSearchSessionStartResponse = Record<string, never>;

/**
 * Parameters of `fuzzyFileSearch/sessionStop`.
 */
export type FuzzyFileSearchSessionStopParams = { sessionId: string, };

/**
 * Result of `fuzzyFileSearch/sessionStop`.
 */
export type FuzzyFileSearchSessionStopResponse = Record<string, never>;

/**
 * Parameters of `fuzzyFileSearch/sessionUpdate`.
 */
export type FuzzyFileSearchSessionUpdateParams = { sessionId: string, query: string, };

/**
 * Result of `fuzzyFileSearch/sessionUpdate`.
 */
export type FuzzyFileSearchSessionUpdateResponse = Record<string, never>;

/**
 * Parameters of the notification `fuzzyFileSearch/sessionUpdated`.
 */
export type FuzzyFileSearchSessionUpdatedNotification = { sessionId: string, 
/**
 * The query that found these files.
 */
query: string, 
/**
 * All matches so far, at most 50, the best first.
 */
files: Array<FuzzyFileSearchResult>, };

/**
 * Parameters of `account/read`.
 */
export type GetAccountParams = { 
/**
 * Refreshes tokens that the server manages before answering; a failure is not reported.
 */
refreshToken?: boolean, };

/**
 * Result of `account/rateLimits/read`.
 */
export type GetAccountRateLimitsResponse = { 
/**
 * The main limit, for clients that show only one.
 */
rateLimits: RateLimitSnapshot, 
/**
 * All limits by their `limitId`, the main one included.
 */
rateLimitsByLimitId: { [key in string]?: RateLimitSnapshot } | null, };

/**
 * Result of `account/read`.
 */
export type GetAccountResponse = { 
/**
 * Null when nobody is logged in, and when the configured provider needs no login.
 */
account: Account | null, 
/**
 * Whether the configured model provider works only with an OpenAI login.
 */
requiresOpenaiAuth: boolean, };

/**
 * Parameters of `getAuthStatus`.
 */
export type GetAuthStatusParams = { 
/**
 * Also returns the token.
 */
includeToken?: boolean | null, 
/**
 * Refreshes tokens that the server manages before answering.
 */
refreshToken?: boolean | null, };

/**
 * Result of `getAuthStatus`.
 */
export type GetAuthStatusResponse = { 
/**
 * Null when nobody is logged in, and when the configured provider needs no login.
 */
authMethod: AuthMode | null, 
/**
 * Null unless asked for.
 */
authToken: string | null, 
/**
 * Whether the configured model provider works only with an OpenAI login.
 */
requiresOpenaiAuth: boolean | null, };

/**
 * Parameters of `getConversationSummary`.
 */
export type GetConversationSummaryParams = { rolloutPath: string, } | { conversationId: ThreadId, };

/**
 * Result of `getConversationSummary`.
 */
export type GetConversationSummaryResponse = { summary: ConversationSummary, };

/**
 * A commit that no branch holds, which keeps the files as they were before a turn.
 */
export type GhostCommit = { id: string, parent?: string | null, 
/**
 * Files that Git did not know even then, so that undoing spares them.
 */
preexisting_untracked_files: Array<string>, 
/**
 * Directories that Git did not know even then, so that undoing spares them.
 */
preexisting_untracked_dirs: Array<string>, };

/**
 * Parameters of `gitDiffToRemote`.
 */
export type GitDiffToRemoteParams = { cwd: string, };

/**
 * Result of `gitDiffToRemote`.
 */
export type GitDiffToRemoteResponse = { 
/**
 * The commit of the remote that is compared with.
 */
sha: GitSha, 
/**
 * What differs from that commit now.
 */
diff: string, };

/**
 * The state of the Git repository when the thread was stored first.
 */
export type GitInfo = { 
/**
 * The commit.
 */
sha: string | null, branch: string | null, originUrl: string | null, };

/**
 *  The hash of a commit.
 */
export type GitSha = string;

/**
 * Rights that the user grants: what is left out is refused, what was not asked for is ignored.
 */
export type GrantedPermissionProfile = { network?: AdditionalNetworkPermissions, fileSystem?: AdditionalFileSystemPermissions, };

/**
 * The reviewer's view of an action; all but `status` is null until it is done.
 */
export type GuardianApprovalReview = { status: GuardianApprovalReviewStatus, 
/**
 * From 0 to 100; an action below 80 is approved.
 */
riskScore: number | null, riskLevel: GuardianRiskLevel | null, 
/**
 * The reviewer's reason.
 */
rationale: string | null, };

/**
 * How far a review has come.
 */
export type GuardianApprovalReviewStatus = "inProgress" | "approved" | "denied" | "aborted";

/**
 * How risky an action is.
 */
export type GuardianRiskLevel = "low" | "medium" | "high";

/**
 * Parameters of the notification `hook/completed`.
 */
export type HookCompletedNotification = { threadId: string, turnId: string | null, run: HookRunSummary, };

/**
 * Something of a `hooks.json` that is not in force.
 */
export type HookErrorInfo = { path: string, message: string, };

/**
 * The point at which a hook runs.
 */
export type HookEventName = "preToolUse" | "postToolUse" | "sessionStart" | "userPromptSubmit" | "stop";

/**
 * Whether the turn waits for a hook.
 */
export type HookExecutionMode = "sync" | "async";

/**
 * What a hook is.
 */
export type HookHandlerType = "command" | "prompt" | "agent";

/**
 * A hook in force.
 */
export type HookMetadata = { 
/**
 * Identifies the hook in the list.
 */
key: string, eventName: HookEventName, handlerType: HookHandlerType, 
/**
 * What the user's shell is given.
 */
command: string, 
/**
 * Whether the turn goes on meanwhile; never.
 */
async: boolean, 
/**
 * Which tools or sources it is for; null for all.
 */
matcher: string | null, timeoutSec: number, 
/**
 * What to show while it runs.
 */
statusMessage: string | null, 
/**
 * Always null.
 */
additionalContextLimit: number | null, 
/**
 * The `hooks.json` that declares it.
 */
sourcePath: string, source: HookSource, 
/**
 * Always null.
 */
pluginId: string | null, 
/**
 * Always null.
 */
environmentId: string | null, 
/**
 * The place among all hooks, counted from 0.
 */
displayOrder: number, 
/**
 * Always true.
 */
enabled: boolean, 
/**
 * Whether the administrator installed it.
 */
isManaged: boolean, 
/**
 * Changes with the command and what else is declared.
 */
currentHash: string, trustStatus: HookTrustStatus, };

/**
 * Something that a hook had to say.
 */
export type HookOutputEntry = { kind: HookOutputEntryKind, text: string, };

/**
 * What a hook's words are for.
 */
export type HookOutputEntryKind = "warning" | "stop" | "feedback" | "context" | "error";

/**
 * What a hook wants the model to go on with.
 */
export type HookPromptFragment = { text: string, 
/**
 * The `id` of the hook's run.
 */
hookRunId: string, };

/**
 * How far a hook has come.
 */
export type HookRunStatus = "running" | "completed" | "failed" | "blocked" | "stopped";

/**
 * One run of a hook.
 */
export type HookRunSummary = { 
/**
 * `<event>:<displayOrder>:<sourcePath>`, the same for each run of a hook.
 */
id: string, eventName: HookEventName, handlerType: HookHandlerType, executionMode: HookExecutionMode, scope: HookScope, 
/**
 * The `hooks.json` that declares the hook.
 */
sourcePath: string, 
/**
 * The place among all hooks, counted from 0.
 */
displayOrder: number, status: HookRunStatus, 
/**
 * What to show while it runs, if the hook declares it.
 */
statusMessage: string | null, 
/**
 * In Unix seconds.
 */
startedAt: number, 
/**
 * In Unix seconds; null while it runs.
 */
completedAt: number | null, 
/**
 * In milliseconds; null while it runs.
 */
durationMs: number | null, 
/**
 * Empty while it runs.
 */
entries: Array<HookOutputEntry>, };

/**
 * What a hook belongs to.
 */
export type HookScope = "thread" | "turn";

/**
 * Where a hook comes from.
 */
export type HookSource = "system" | "user" | "project";

/**
 * Parameters of the notification `hook/started`.
 */
export type HookStartedNotification = { threadId: string, turnId: string | null, run: HookRunSummary, };

/**
 * Whether a hook may run.
 */
export type HookTrustStatus = "managed" | "trusted";

/**
 * The hooks of one directory.
 */
export type HooksListEntry = { cwd: string, hooks: Array<HookMetadata>, warnings: Array<string>, errors: Array<HookErrorInfo>, };

/**
 * Parameters of `hooks/list`.
 */
export type HooksListParams = { 
/**
 * The directories to look at; the server's own if empty.
 */
cwds?: Array<string>, 
/**
 * A loaded thread, whose directory is looked at instead.
 */
threadId?: string | null, };

/**
 * Result of `hooks/list`.
 */
export type HooksListResponse = { data: Array<HooksListEntry>, };

/**
 * How closely the model looks at an image.
 */
export type ImageDetail = "auto" | "low" | "high" | "original";

/**
 * What a connection wants and does not want.
 */
export type InitializeCapabilities = { 
/**
 * Allows methods, fields and values that are marked experimental.
 */
experimentalApi?: boolean, 
/**
 * Notifications not to send, by exact method; unknown ones are ignored.
 */
optOutNotificationMethods?: Array<string> | null, 
/**
 * What the client wants of Quipu beyond the protocol.
 */
quipu?: QuipuCapabilities, };

/**
 * Parameters of `initialize`.
 */
export type InitializeParams = { clientInfo: ClientInfo, capabilities?: InitializeCapabilities | null, };

/**
 * Result of `initialize`.
 */
export type InitializeResponse = { 
/**
 * How the server presents itself to model providers.
 */
userAgent: string, 
/**
 * The directory that holds configuration, accounts and threads.
 */
codexHome: AbsolutePathBuf, 
/**
 * `unix` or `windows`.
 */
platformFamily: string, 
/**
 * The system, such as `linux`, `macos` or `windows`.
 */
platformOs: string, 
/**
 * What the client gets of what it wanted beyond the protocol, if it wanted anything.
 */
quipu?: QuipuCapabilities, };

/**
 * A kind of input.
 */
export type InputModality = "text" | "image";

/**
 * Parameters of the notification `item/completed`.
 */
export type ItemCompletedNotification = { 
/**
 * The item in full, which replaces what the deltas added up to.
 */
item: ThreadItem, threadId: string, turnId: string, 
/**
 * In Unix milliseconds.
 */
completedAtMs?: number, };

/**
 * Parameters of the notification `item/autoApprovalReview/completed`.
 */
export type ItemGuardianApprovalReviewCompletedNotification = { threadId: string, turnId: string, 
/**
 * Identifies the review in its turn.
 */
reviewId?: string, 
/**
 * When the review started, in Unix milliseconds.
 */
startedAtMs?: number, 
/**
 * When it ended, in Unix milliseconds.
 */
completedAtMs?: number, decisionSource?: AutoReviewDecisionSource, 
/**
 * The item that waits for the review.
 */
targetItemId: string, review: GuardianApprovalReview, 
/**
 * What is reviewed, as an object whose member `tool` says which members follow.
 */
action: JsonValue | null, };

/**
 * Parameters of the notification `item/autoApprovalReview/started`.
 */
export type ItemGuardianApprovalReviewStartedNotification = { threadId: string, turnId: string, 
/**
 * Identifies the review in its turn.
 */
reviewId?: string, 
/**
 * When the review started, in Unix milliseconds.
 */
startedAtMs?: number, 
/**
 * The item that waits for the review.
 */
targetItemId: string, review: GuardianApprovalReview, 
/**
 * What is reviewed, as an object whose member `tool` says which members follow.
 */
action: JsonValue | null, };

/**
 * Parameters of the notification `item/started`.
 */
export type ItemStartedNotification = { 
/**
 * The item as it is now; its `id` is the `itemId` of all that follows.
 */
item: ThreadItem, threadId: string, turnId: string, 
/**
 * In Unix milliseconds.
 */
startedAtMs?: number, };

/**
 * Where a conversation came from, in the words of the first protocol version.
 */
export type LegacySessionSource = "cli" | "vscode" | "exec" | "mcp" | { "custom": string } | { "subagent": SubAgentSource } | "unknown";

/**
 * What the model did on the web.
 */
export type LegacyWebSearchAction = { "type": "search", query?: string, 
/**
 * All queries, if it made several.
 */
queries?: Array<string>, } | { "type": "open_page", url?: string, } | { "type": "find_in_page", url?: string, pattern?: string, } | { "type": "other" };

/**
 * Parameters of `mcpServerStatus/list`.
 */
export type ListMcpServerStatusParams = { 
/**
 * The `nextCursor` of the page before; absent for the first.
 */
cursor?: string | null, 
/**
 * Servers per page; all if absent.
 */
limit?: number | null, };

/**
 * Result of `mcpServerStatus/list`.
 */
export type ListMcpServerStatusResponse = { 
/**
 * Sorted by name.
 */
data: Array<McpServerStatus>, 
/**
 * Null on the last page.
 */
nextCursor: string | null, };

/**
 * What a local shell call does.
 */
export type LocalShellAction = { "type": "exec" } & LocalShellExecAction;

/**
 * What a local shell call runs.
 */
export type LocalShellExecAction = { 
/**
 * The program and its arguments.
 */
command: Array<string>, timeout_ms?: number | null, working_directory?: string | null, env?: { [key in string]?: string } | null, 
/**
 * The user to run it as.
 */
user?: string | null, };

/**
 * How far a local shell call has come.
 */
export type LocalShellStatus = "completed" | "in_progress" | "incomplete";

/**
 * Parameters of `account/login/start`.
 */
export type LoginAccountParams = { "type": "apiKey", apiKey: string, } | { "type": "chatgpt" } | { "type": "chatgptDeviceCode" } | { "type": "chatgptAuthTokens", 
/**
 * A JWT; its claims contain the email, and the plan if none is given.
 */
accessToken: string, 
/**
 * The workspace that the token is for.
 */
chatgptAccountId: string, 
/**
 * The plan's name; if absent, the token's claim counts, else the plan is `unknown`.
 */
chatgptPlanType?: string | null, };

/**
 * Result of `account/login/start`.
 */
export type LoginAccountResponse = { "type": "apiKey" } | { "type": "chatgpt", 
/**
 * Names this attempt in `account/login/cancel` and `account/login/completed`.
 */
loginId: string, 
/**
 * The page to open in the user's browser; the server does not open it.
 */
authUrl: string, } | { "type": "chatgptDeviceCode", 
/**
 * Names this attempt in `account/login/cancel` and `account/login/completed`.
 */
loginId: string, 
/**
 * The page on which the user enters the code.
 */
verificationUrl: string, 
/**
 * The code to show to the user.
 */
userCode: string, } | { "type": "chatgptAuthTokens" };

/**
 * Result of `account/logout`.
 */
export type LogoutAccountResponse = Record<string, never>;

/**
 * Parameters of `marketplace/add`.
 */
export type MarketplaceAddParams = { 
/**
 * A directory, the URL of a Git repository (`#REF` may follow), or `owner/repo` on GitHub.
 */
source: string, 
/**
 * The branch, tag or commit of a repository.
 */
refName?: string | null, 
/**
 * The directories of a repository that are fetched, besides the files at its top; all if there are none.
 */
sparsePaths?: Array<string> | null, };

/**
 * Result of `marketplace/add`.
 */
export type MarketplaceAddResponse = { marketplaceName: string, 
/**
 * The directory of the marketplace.
 */
installedRoot: AbsolutePathBuf, 
/**
 * It was there before, from the same source.
 */
alreadyAdded: boolean, };

/**
 * How to show a marketplace.
 */
export type MarketplaceInterface = { displayName: string | null, };

/**
 * A marketplace that cannot be used.
 */
export type MarketplaceLoadErrorInfo = { marketplacePath: AbsolutePathBuf, message: string, };

/**
 * Parameters of `marketplace/remove`.
 */
export type MarketplaceRemoveParams = { marketplaceName: string, };

/**
 * Result of `marketplace/remove`.
 */
export type MarketplaceRemoveResponse = { marketplaceName: string, 
/**
 * The copy of a repository that was removed.
 */
installedRoot: AbsolutePathBuf | null, };

/**
 * A marketplace that was not upgraded.
 */
export type MarketplaceUpgradeErrorInfo = { marketplaceName: string, message: string, };

/**
 * Parameters of `marketplace/upgrade`.
 */
export type MarketplaceUpgradeParams = { 
/**
 * All that come from repositories if absent.
 */
marketplaceName?: string | null, };

/**
 * Result of `marketplace/upgrade`.
 */
export type MarketplaceUpgradeResponse = { 
/**
 * Those that were looked at.
 */
selectedMarketplaces: Array<string>, 
/**
 * The directories of those that changed.
 */
upgradedRoots: Array<AbsolutePathBuf>, errors: Array<MarketplaceUpgradeErrorInfo>, };

/**
 * How requests to an MCP server are authenticated.
 */
export type McpAuthStatus = "unsupported" | "notLoggedIn" | "bearerToken" | "oAuth";

/**
 * The `type` of a field with several choices.
 */
export type McpElicitationArrayType = "array";

/**
 * A yes-or-no field.
 */
export type McpElicitationBooleanSchema = { type: McpElicitationBooleanType, title?: string, description?: string, default?: boolean, };

/**
 * The `type` of a yes-or-no field.
 */
export type McpElicitationBooleanType = "boolean";

/**
 * A choice with a name to show.
 */
export type McpElicitationConstOption = { 
/**
 * What is sent back.
 */
const: string, 
/**
 * What is shown.
 */
title: string, };

/**
 * A field to choose from given values.
 */
export type McpElicitationEnumSchema = McpElicitationSingleSelectEnumSchema | McpElicitationMultiSelectEnumSchema | McpElicitationLegacyTitledEnumSchema;

/**
 * A field with one choice, with the names to show in a list of their own.
 */
export type McpElicitationLegacyTitledEnumSchema = { type: McpElicitationStringType, title?: string, description?: string, enum: Array<string>, 
/**
 * What is shown for each of the values, in the same order.
 */
enumNames?: Array<string>, default?: string, };

/**
 * A field with several choices.
 */
export type McpElicitationMultiSelectEnumSchema = McpElicitationUntitledMultiSelectEnumSchema | McpElicitationTitledMultiSelectEnumSchema;

/**
 * A number field.
 */
export type McpElicitationNumberSchema = { type: McpElicitationNumberType, title?: string, description?: string, minimum?: number, maximum?: number, default?: number, };

/**
 * The `type` of a number field.
 */
export type McpElicitationNumberType = "number" | "integer";

/**
 * The `type` of a form.
 */
export type McpElicitationObjectType = "object";

/**
 * A field of a form.
 */
export type McpElicitationPrimitiveSchema = McpElicitationEnumSchema | McpElicitationStringSchema | McpElicitationNumberSchema | McpElicitationBooleanSchema;

/**
 * A form: one level of named fields.
 */
export type McpElicitationSchema = { 
/**
 * The dialect of JSON Schema, if the MCP server names it.
 */
$schema?: string, type: McpElicitationObjectType, 
/**
 * The fields by name.
 */
properties: { [key in string]?: McpElicitationPrimitiveSchema }, 
/**
 * The names of fields that must be filled in.
 */
required?: Array<string>, };

/**
 * A field with one choice.
 */
export type McpElicitationSingleSelectEnumSchema = McpElicitationUntitledSingleSelectEnumSchema | McpElicitationTitledSingleSelectEnumSchema;

/**
 * What a text field has to look like.
 */
export type McpElicitationStringFormat = "email" | "uri" | "date" | "date-time";

/**
 * A text field; its lengths count characters.
 */
export type McpElicitationStringSchema = { type: McpElicitationStringType, title?: string, description?: string, minLength?: number, maxLength?: number, format?: McpElicitationStringFormat, default?: string, };

/**
 * The `type` of a text field.
 */
export type McpElicitationStringType = "string";

/**
 * The choices of a field, with names to show.
 */
export type McpElicitationTitledEnumItems = { anyOf: Array<McpElicitationConstOption>, };

/**
 * A field with several choices, with names to show.
 */
export type McpElicitationTitledMultiSelectEnumSchema = { type: McpElicitationArrayType, title?: string, description?: string, minItems?: number, maxItems?: number, items: McpElicitationTitledEnumItems, default?: Array<string>, };

/**
 * A field with one choice, with names to show.
 */
export type McpElicitationTitledSingleSelectEnumSchema = { type: McpElicitationStringType, title?: string, description?: string, oneOf: Array<McpElicitationConstOption>, default?: string, };

/**
 * The choices of a field, shown as they are.
 */
export type McpElicitationUntitledEnumItems = { type: McpElicitationStringType, enum: Array<string>, };

/**
 * A field with several choices, shown as they are.
 */
export type McpElicitationUntitledMultiSelectEnumSchema = { type: McpElicitationArrayType, title?: string, description?: string, minItems?: number, maxItems?: number, items: McpElicitationUntitledEnumItems, default?: Array<string>, };

/**
 * A field with one choice, shown as it is.
 */
export type McpElicitationUntitledSingleSelectEnumSchema = { type: McpElicitationStringType, title?: string, description?: string, enum: Array<string>, default?: string, };

/**
 * Parameters of `mcpServer/resource/read`.
 */
export type McpResourceReadParams = { 
/**
 * A loaded thread, whose servers are meant; required.
 */
threadId?: string | null, 
/**
 * Given back in the result.
 */
originCallId?: string | null, server: string, uri: string, };

/**
 * Result of `mcpServer/resource/read`.
 */
export type McpResourceReadResponse = { 
/**
 * What the server sent, part by part.
 */
contents: Array<JsonValue>, originCallId: string | null, };

/**
 * What the user did with a question of an MCP server.
 */
export type McpServerElicitationAction = "accept" | "decline" | "cancel";

/**
 * Parameters of the request `mcpServer/elicitation/request`.
 */
export type McpServerElicitationRequestParams = { threadId: string, 
/**
 * The running turn, if there is one.
 */
turnId: string | null, 
/**
 * The name of the MCP server in the configuration.
 */
serverName: string, } & ({ "mode": "form", 
/**
 * The MCP server's metadata; for approvals, the tool, its arguments and what may be
 * remembered.
 */
_meta: JsonValue | null, 
/**
 * The question to show.
 */
message: string, requestedSchema: McpElicitationSchema, } | { "mode": "url", 
/**
 * The MCP server's metadata.
 */
_meta: JsonValue | null, 
/**
 * The question to show.
 */
message: string, url: string, 
/**
 * The MCP server's id for this question.
 */
elicitationId: string, });

/**
 * Answer to the request `mcpServer/elicitation/request`.
 */
export type McpServerElicitationRequestResponse = { action: McpServerElicitationAction, 
/**
 * The form's values by name; only looked at with `accept`, where null counts as empty.
 */
content?: JsonValue | null, 
/**
 * For a tool approval, `{"persist": "session"}` or `"always"` makes it last.
 */
_meta?: JsonValue | null, };

/**
 * Parameters of the notification `mcpServer/oauthLogin/completed`.
 */
export type McpServerOauthLoginCompletedNotification = { name: string, success: boolean, 
/**
 * Why it failed; absent on success.
 */
error?: string, };

/**
 * Parameters of `mcpServer/oauth/login`.
 */
export type McpServerOauthLoginParams = { 
/**
 * The name of the server in the configuration.
 */
name: string, 
/**
 * If absent, the configured ones, else those that the server offers.
 */
scopes?: Array<string> | null, 
/**
 * Seconds to wait for the browser; 300 if absent.
 */
timeoutSecs?: number | null, };

/**
 * Result of `mcpServer/oauth/login`.
 */
export type McpServerOauthLoginResponse = { 
/**
 * The page to open in the user's browser.
 */
authorizationUrl: string, };

/**
 * Result of `config/mcpServer/reload`.
 */
export type McpServerRefreshResponse = Record<string, never>;

/**
 * How far an MCP server has come for a thread.
 */
export type McpServerStartupState = "starting" | "ready" | "failed" | "cancelled";

/**
 * A configured MCP server and what it offers; nothing if it does not start.
 */
export type McpServerStatus = { name: string, 
/**
 * By name, in which all but letters, digits and `_` is replaced by `_`.
 */
tools: { [key in string]?: Tool }, resources: Array<Resource>, resourceTemplates: Array<ResourceTemplate>, authStatus: McpAuthStatus, };

/**
 * Parameters of the notification `mcpServer/startupStatus/updated`, sent to the subscribers of the
 * thread that starts the MCP server.
 */
export type McpServerStatusUpdatedNotification = { name: string, status: McpServerStartupState, 
/**
 * Set with `failed`.
 */
error: string | null, };

/**
 * Parameters of `mcpServer/tool/call`.
 */
export type McpServerToolCallParams = { 
/**
 * A loaded thread, whose servers are meant.
 */
threadId: string, server: string, 
/**
 * The tool's own name.
 */
tool: string, 
/**
 * An object.
 */
arguments?: JsonValue | null, };

/**
 * Result of `mcpServer/tool/call`.
 */
export type McpServerToolCallResponse = { 
/**
 * What the server sent, part by part.
 */
content: Array<JsonValue>, structuredContent?: JsonValue, 
/**
 * Whether the tool says that it failed.
 */
isError?: boolean, };

/**
 * Why a call brought no result.
 */
export type McpToolCallError = { message: string, };

/**
 * Parameters of the notification `item/mcpToolCall/progress`, which servers do not send yet.
 */
export type McpToolCallProgressNotification = { threadId: string, turnId: string, itemId: string, message: string, };

/**
 * What an MCP server returned.
 */
export type McpToolCallResult = { 
/**
 * Content blocks of MCP, as received.
 */
content: Array<JsonValue>, 
/**
 * The result as one value, if the tool returns one.
 */
structuredContent: JsonValue | null, };

/**
 * How far a call of an MCP tool has come.
 */
export type McpToolCallStatus = "inProgress" | "completed" | "failed";

/**
 * The notes on earlier threads that a message relies on.
 */
export type MemoryCitation = { entries: Array<MemoryCitationEntry>, 
/**
 * The threads that the notes are about.
 */
threadIds: Array<string>, };

/**
 * Some lines of a file of notes.
 */
export type MemoryCitationEntry = { path: string, lineStart: number, lineEnd: number, 
/**
 * What the model says about them.
 */
note: string, };

/**
 * How a new value meets the old one.
 */
export type MergeStrategy = "replace" | "upsert";

/**
 * Where in the course of a turn a message stands.
 */
export type MessagePhase = "commentary" | "final_answer";

/**
 * Parameters of `mock/experimentalMethod`.
 */
export type MockExperimentalMethodParams = { value?: string | null, };

/**
 * Result of `mock/experimentalMethod`.
 */
export type MockExperimentalMethodResponse = { echoed: string | null, };

/**
 * A way of working together.
 */
export type ModeKind = "plan" | "default";

/**
 * A model to choose from.
 */
export type Model = { 
/**
 * Identifies the model in the list.
 */
id: string, 
/**
 * The name to give in `thread/start` and `turn/start`.
 */
model: string, 
/**
 * The model to use instead, if there is a better one.
 */
upgrade: string | null, 
/**
 * What to tell the user about that model.
 */
upgradeInfo: ModelUpgradeInfo | null, 
/**
 * What to tell the user about this model when it is new.
 */
availabilityNux: ModelAvailabilityNux | null, displayName: string, description: string, 
/**
 * Whether it is not meant to be picked; only with `includeHidden`.
 */
hidden: boolean, supportedReasoningEfforts: Array<ReasoningEffortOption>, 
/**
 * `none` if the model has no default.
 */
defaultReasoningEffort: ReasoningEffort, inputModalities: Array<InputModality>, 
/**
 * Whether `personality` has an effect.
 */
supportsPersonality: boolean, 
/**
 * Whether it is used when nothing is configured; true of one model.
 */
isDefault: boolean, };

/**
 * An announcement of a model.
 */
export type ModelAvailabilityNux = { message: string, };

/**
 * Parameters of `model/list`.
 */
export type ModelListParams = { 
/**
 * The `nextCursor` of the page before; absent for the first.
 */
cursor?: string | null, 
/**
 * Models per page; all if absent.
 */
limit?: number | null, 
/**
 * Also returns models that are not meant to be picked; `false` if absent.
 */
includeHidden?: boolean | null, };

/**
 * Result of `model/list`.
 */
export type ModelListResponse = { 
/**
 * In the order to show them.
 */
data: Array<Model>, 
/**
 * Null on the last page.
 */
nextCursor: string | null, };

/**
 * Parameters of `modelProvider/capabilities/read`.
 */
export type ModelProviderCapabilitiesReadParams = Record<string, never>;

/**
 * Result of `modelProvider/capabilities/read`: what the provider in use can do besides answering.
 */
export type ModelProviderCapabilitiesReadResponse = { imageGeneration: boolean, webSearch: boolean, };

/**
 * Why the provider used another model.
 */
export type ModelRerouteReason = "highRiskCyberActivity";

/**
 * Parameters of the notification `model/rerouted`.
 */
export type ModelReroutedNotification = { threadId: string, turnId: string, fromModel: string, toModel: string, reason: ModelRerouteReason, };

/**
 * What to tell the user about a model to use instead.
 */
export type ModelUpgradeInfo = { model: string, 
/**
 * A line for it; servers send null.
 */
upgradeCopy: string | null, 
/**
 * A page about it; servers send null.
 */
modelLink: string | null, 
/**
 * What changes for the user, in Markdown.
 */
migrationMarkdown: string | null, };

/**
 * When the model starts agents.
 */
export type MultiAgentMode = "explicitRequestOnly" | "proactive" | { "custom": string };

/**
 * Whether a sandbox around the server lets commands reach the network.
 */
export type NetworkAccess = "restricted" | "enabled";

/**
 * The host that a sandboxed command tries to reach.
 */
export type NetworkApprovalContext = { host: string, protocol: NetworkApprovalProtocol, };

/**
 * The way in which a command tries to reach a host.
 */
export type NetworkApprovalProtocol = "http" | "https" | "socks5Tcp" | "socks5Udp";

/**
 * Whether commands may reach a host.
 */
export type NetworkDomainPermission = "allow" | "deny";

/**
 * A rule about one host, saved for later requests.
 */
export type NetworkPolicyAmendment = { host: string, action: NetworkPolicyRuleAction, };

/**
 * What a rule does with its host.
 */
export type NetworkPolicyRuleAction = "allow" | "deny";

/**
 * Rules of the proxy through which sandboxed commands reach the network.
 */
export type NetworkRequirements = { 
/**
 * Whether the proxy is used.
 */
enabled: boolean | null, httpPort: number | null, socksPort: number | null, 
/**
 * Whether the proxy may use another proxy.
 */
allowUpstreamProxy: boolean | null, 
/**
 * Whether the proxy may listen on addresses that other machines can reach.
 */
dangerouslyAllowNonLoopbackProxy: boolean | null, 
/**
 * Whether commands may connect to every Unix socket.
 */
dangerouslyAllowAllUnixSockets: boolean | null, 
/**
 * Permissions by host pattern; a denial wins.
 */
domains: { [key in string]?: NetworkDomainPermission } | null, 
/**
 * Whether users cannot allow hosts of their own.
 */
managedAllowedDomainsOnly: boolean | null, 
/**
 * The allowed patterns of `domains`, for older clients; null if there are none.
 */
allowedDomains: Array<string> | null, 
/**
 * The denied patterns of `domains`, for older clients; null if there are none.
 */
deniedDomains: Array<string> | null, 
/**
 * Permissions by the path of a Unix socket.
 */
unixSockets: { [key in string]?: NetworkUnixSocketPermission } | null, 
/**
 * The allowed paths of `unixSockets`, for older clients; null if there are none.
 */
allowUnixSockets: Array<string> | null, 
/**
 * Whether commands may reach addresses of this machine and of private networks.
 */
allowLocalBinding: boolean | null, };

/**
 * Whether commands may connect to a Unix socket.
 */
export type NetworkUnixSocketPermission = "allow" | "none";

/**
 * A kind of turn that takes no input.
 */
export type NonSteerableTurnKind = "review" | "compact";

/**
 * Why a written value does not take effect.
 */
export type OverriddenMetadata = { 
/**
 * The reason in words, naming the stronger layer.
 */
message: string, overridingLayer: ConfigLayerMetadata, 
/**
 * The value that counts instead.
 */
effectiveValue: JsonValue, };

/**
 * What a part of a command line seems to do, as the first protocol version shows it.
 */
export type ParsedCommand = { "type": "read", cmd: string, name: string, 
/**
 * The path as written in the command.
 */
path: string, } | { "type": "list_files", cmd: string, path: string | null, } | { "type": "search", cmd: string, query: string | null, path: string | null, } | { "type": "unknown", cmd: string, };

/**
 * How far a patch has come.
 */
export type PatchApplyStatus = "inProgress" | "completed" | "failed" | "declined";

/**
 * What a patch does to a file.
 */
export type PatchChangeKind = { "type": "add" } | { "type": "delete" } | { "type": "update", 
/**
 * The new absolute path, if the file is also moved.
 */
move_path: string | null, };

/**
 * How long granted rights last.
 */
export type PermissionGrantScope = "turn" | "session";

/**
 * Parameters of `permissionProfile/list`.
 */
export type PermissionProfileListParams = { 
/**
 * The `nextCursor` of the page before; absent for the first.
 */
cursor?: string | null, 
/**
 * Profiles per page; all if absent.
 */
limit?: number | null, 
/**
 * The directory whose configuration counts; the server's own if absent.
 */
cwd?: string | null, };

/**
 * Result of `permissionProfile/list`.
 */
export type PermissionProfileListResponse = { 
/**
 * The built-in ones first.
 */
data: Array<PermissionProfileSummary>, 
/**
 * Null on the last page.
 */
nextCursor: string | null, };

/**
 * A profile to choose.
 */
export type PermissionProfileSummary = { 
/**
 * The name to give as `permissions` in `thread/start` and `turn/start`.
 */
id: string, 
/**
 * For people; null if the configuration has none.
 */
description: string | null, 
/**
 * Whether the administrator's limits allow it.
 */
allowed: boolean, };

/**
 * Parameters of the request `item/permissions/requestApproval`.
 */
export type PermissionsRequestApprovalParams = { threadId: string, turnId: string, 
/**
 * The id of the model's call; no item is announced for it.
 */
itemId: string, 
/**
 * When it was asked, in Unix milliseconds.
 */
startedAtMs?: number, 
/**
 * The working directory, which relative paths would refer to.
 */
cwd?: string, 
/**
 * What the model wants the permissions for.
 */
reason: string | null, permissions: RequestPermissionProfile, };

/**
 * Answer to the request `item/permissions/requestApproval`.
 */
export type PermissionsRequestApprovalResponse = { permissions: GrantedPermissionProfile, scope?: PermissionGrantScope, 
/**
 * Asks for a review of every later command of the turn. That is not supported, so nothing is granted then.
 */
strictAutoReview?: boolean, };

/**
 * The tone of the agent.
 */
export type Personality = "none" | "friendly" | "pragmatic";

/**
 * Parameters of the notification `item/plan/delta`.
 */
export type PlanDeltaNotification = { threadId: string, turnId: string, itemId: string, 
/**
 * Text to append; the finished plan may differ from the sum.
 */
delta: string, };

/**
 * The ChatGPT plan of an account.
 */
export type PlanType = "free" | "go" | "plus" | "pro" | "team" | "self_serve_business_usage_based" | "business" | "enterprise_cbp_usage_based" | "enterprise" | "edu" | "unknown";

/**
 * When a plugin's apps ask for a login.
 */
export type PluginAuthPolicy = "ON_INSTALL" | "ON_USE";

/**
 * A plugin with all that it brings.
 */
export type PluginDetail = { marketplaceName: string, marketplacePath: AbsolutePathBuf, summary: PluginSummary, description: string | null, 
/**
 * Named `<plugin>:<skill>`.
 */
skills: Array<SkillSummary>, apps: Array<AppSummary>, 
/**
 * The names of MCP servers, sorted.
 */
mcpServers: Array<string>, 
/**
 * Hooks that run while the plugin is enabled.
 */
hooks?: Array<PluginHookSummary>, 
/**
 * Always empty: templates of apps belong to an account.
 */
appTemplates?: Array<JsonValue>, };

/**
 * A hook of a plugin.
 */
export type PluginHookSummary = { 
/**
 * Plugin, file, event and the position in the file.
 */
key: string, eventName: HookEventName, };

/**
 * Parameters of `plugin/install`.
 */
export type PluginInstallParams = { 
/**
 * The `path` of the marketplace in `plugin/list`.
 */
marketplacePath: AbsolutePathBuf, pluginName: string, 
/**
 * Installs it for the account as well.
 */
forceRemoteSync?: boolean, };

/**
 * Whether a plugin can be installed.
 */
export type PluginInstallPolicy = "NOT_AVAILABLE" | "AVAILABLE" | "INSTALLED_BY_DEFAULT";

/**
 * Result of `plugin/install`.
 */
export type PluginInstallResponse = { authPolicy: PluginAuthPolicy, 
/**
 * The apps that the user has yet to connect.
 */
appsNeedingAuth: Array<AppSummary>, };

/**
 * Parameters of `plugin/installed`.
 */
export type PluginInstalledParams = { 
/**
 * Directories whose marketplaces count besides the user's own.
 */
cwds?: Array<AbsolutePathBuf> | null, 
/**
 * Plugins that are listed even if they are not installed.
 */
installSuggestionPluginNames?: Array<string> | null, };

/**
 * Result of `plugin/installed`.
 */
export type PluginInstalledResponse = { 
/**
 * Only those with plugins to list.
 */
marketplaces: Array<PluginMarketplaceEntry>, marketplaceLoadErrors: Array<MarketplaceLoadErrorInfo>, };

/**
 * How to show a plugin.
 */
export type PluginInterface = { displayName: string | null, shortDescription: string | null, longDescription: string | null, developerName: string | null, 
/**
 * The marketplace's word, else the plugin's.
 */
category: string | null, capabilities: Array<string>, websiteUrl: string | null, privacyPolicyUrl: string | null, termsOfServiceUrl: string | null, 
/**
 * Up to 3 things to start with, of up to 128 characters each.
 */
defaultPrompt: Array<string> | null, 
/**
 * As `#RRGGBB`.
 */
brandColor: string | null, composerIcon: AbsolutePathBuf | null, logo: AbsolutePathBuf | null, screenshots: Array<AbsolutePathBuf>, 
/**
 * Always empty: a plugin's images are files.
 */
screenshotUrls?: Array<string>, };

/**
 * Parameters of `plugin/list`.
 */
export type PluginListParams = { 
/**
 * Directories whose marketplaces count besides the user's own.
 */
cwds?: Array<AbsolutePathBuf> | null, 
/**
 * Takes over first what the account has installed elsewhere.
 */
forceRemoteSync?: boolean, };

/**
 * Result of `plugin/list`.
 */
export type PluginListResponse = { marketplaces: Array<PluginMarketplaceEntry>, 
/**
 * Marketplaces that are left out, and why.
 */
marketplaceLoadErrors: Array<MarketplaceLoadErrorInfo>, 
/**
 * Why `forceRemoteSync` failed; the list is still good.
 */
remoteSyncError: string | null, 
/**
 * Plugins that the curated marketplace puts first; empty if that is not known.
 */
featuredPluginIds: Array<string>, };

/**
 * A marketplace and its plugins.
 */
export type PluginMarketplaceEntry = { name: string, 
/**
 * Its `marketplace.json`, which names it in other requests.
 */
path: AbsolutePathBuf, interface: MarketplaceInterface | null, plugins: Array<PluginSummary>, };

/**
 * Parameters of `plugin/read`.
 */
export type PluginReadParams = { 
/**
 * The `path` of the marketplace in `plugin/list`.
 */
marketplacePath: AbsolutePathBuf, pluginName: string, };

/**
 * Result of `plugin/read`.
 */
export type PluginReadResponse = { plugin: PluginDetail, };

/**
 * Parameters of `plugin/search`.
 */
export type PluginSearchParams = { 
/**
 * What names and descriptions contain, in any case. Nothing has an empty one.
 */
searchTerm: string, 
/**
 * The `nextCursor` of the page before; absent for the first.
 */
cursor?: string | null, 
/**
 * Directories whose marketplaces count besides the user's own.
 */
cwds?: Array<AbsolutePathBuf> | null, 
/**
 * Plugins per page: 1 to 100, 25 if absent.
 */
limit?: number | null, 
/**
 * Whose plugins of an account are meant. Those of this machine are found in any case.
 */
scope?: PluginSearchScope | null, };

/**
 * Result of `plugin/search`.
 */
export type PluginSearchResponse = { data: Array<PluginSearchResult>, 
/**
 * Null on the last page.
 */
nextCursor: string | null, };

/**
 * A plugin that was found.
 */
export type PluginSearchResult = { plugin: PluginSummary, marketplaceName: string, 
/**
 * The file of the marketplace.
 */
marketplacePath: AbsolutePathBuf | null, };

/**
 * Whose plugins are searched.
 */
export type PluginSearchScope = "global" | "workspace" | "personal";

/**
 * Where the files of a plugin are.
 */
export type PluginSource = { "type": "local", path: AbsolutePathBuf, };

/**
 * What a list shows of a plugin.
 */
export type PluginSummary = { 
/**
 * `<plugin>@<marketplace>`.
 */
id: string, name: string, source: PluginSource, 
/**
 * Whether its files are installed for this user.
 */
installed: boolean, 
/**
 * Whether the configuration switches it on.
 */
enabled: boolean, installPolicy: PluginInstallPolicy, authPolicy: PluginAuthPolicy, interface: PluginInterface | null, };

/**
 * Parameters of `plugin/uninstall`.
 */
export type PluginUninstallParams = { 
/**
 * `<plugin>@<marketplace>`; not being installed is no error.
 */
pluginId: string, 
/**
 * Uninstalls it for the account as well.
 */
forceRemoteSync?: boolean, };

/**
 * Result of `plugin/uninstall`.
 */
export type PluginUninstallResponse = Record<string, never>;

/**
 * Parameters of the notification `process/exited`.
 */
export type ProcessExitedNotification = { processHandle: string, 
/**
 * The exit status; 124 after the timeout, 128 and the signal after a signal.
 */
exitCode: number, 
/**
 * Always false: output ends with the process and all its descendants.
 */
outputDrainTimedOut: boolean | null, 
/**
 * Empty if the output was streamed.
 */
stdout: string, stdoutCapReached: boolean, 
/**
 * Empty if the output was streamed.
 */
stderr: string, stderrCapReached: boolean, };

/**
 * Parameters of `process/kill`.
 */
export type ProcessKillParams = { processHandle: string, };

/**
 * Result of `process/kill`.
 */
export type ProcessKillResponse = Record<string, never>;

/**
 * Parameters of the notification `process/outputDelta`.
 */
export type ProcessOutputDeltaNotification = { processHandle: string, stream: ProcessOutputStream, 
/**
 * The next bytes of the stream, in base64.
 */
deltaBase64: string, 
/**
 * The cap is full: the rest of this stream is dropped while the process runs on.
 */
capReached: boolean, };

/**
 * Where output came from.
 */
export type ProcessOutputStream = "stdout" | "stderr";

/**
 * Parameters of `process/resizePty`.
 */
export type ProcessResizePtyParams = { processHandle: string, size: ProcessTerminalSize, };

/**
 * Result of `process/resizePty`.
 */
export type ProcessResizePtyResponse = Record<string, never>;

/**
 * Parameters of `process/spawn`.
 */
export type ProcessSpawnParams = { 
/**
 * The program and its arguments; no shell is involved. It must not be empty.
 */
command: Array<string>, 
/**
 * A name that is unique among the running processes of this connection; must not be empty.
 */
processHandle: string, 
/**
 * The directory to run in.
 */
cwd: AbsolutePathBuf, 
/**
 * Runs the process in a terminal, with input and output streamed and all output on `stdout`.
 */
tty?: boolean, 
/**
 * Keeps standard input open for `process/writeStdin`; otherwise it is closed from the start.
 */
streamStdin?: boolean, 
/**
 * Sends output in `process/outputDelta` as it comes; `process/exited` then has none.
 */
streamStdoutStderr?: boolean, 
/**
 * The most bytes of output to keep per stream; 1048576 (1 MiB) if absent, all if null.
 */
outputBytesCap?: number | null, 
/**
 * Milliseconds until the process is killed; 10000 if absent, no limit if null.
 */
timeoutMs?: number | null, 
/**
 * Changes to the environment that the configuration yields: a string sets, null removes.
 */
env?: { [key in string]?: string | null } | null, 
/**
 * The terminal's first size, 24 rows and 80 columns if absent; only with `tty`.
 */
size?: ProcessTerminalSize | null, };

/**
 * Result of `process/spawn`.
 */
export type ProcessSpawnResponse = Record<string, never>;

/**
 * The size of a terminal in character cells; neither number may be 0.
 */
export type ProcessTerminalSize = { rows: number, cols: number, };

/**
 * Parameters of `process/writeStdin`.
 */
export type ProcessWriteStdinParams = { processHandle: string, 
/**
 * Bytes to write, in base64 with padding; needed unless `closeStdin` is set.
 */
deltaBase64?: string | null, 
/**
 * Closes standard input, after the bytes if there are any.
 */
closeStdin?: boolean, };

/**
 * Result of `process/writeStdin`.
 */
export type ProcessWriteStdinResponse = Record<string, never>;

/**
 * The table `[profiles.<name>]`; when selected, it wins over the top level.
 */
export type ProfileV2 = { model: string | null, model_provider: string | null, approval_policy: AskForApproval | null, approvals_reviewer: ApprovalsReviewer | null, service_tier: ServiceTier | null, model_reasoning_effort: ReasoningEffort | null, model_reasoning_summary: ReasoningSummary | null, model_verbosity: Verbosity | null, web_search: WebSearchMode | null, tools: ToolsV2 | null, 
/**
 * Where the ChatGPT backend is reached.
 */
chatgpt_base_url: string | null, } & ({ [key in string]?: JsonValue });

/**
 * Input that waits.
 */
export type QueuedSubmission = { id: string, input: Array<UserInput>, 
/**
 * The client's name for the message.
 */
clientUserMessageId: string, };

/**
 * What a client can ask of Quipu in `initialize`.
 */
export type QuipuCapabilities = { 
/**
 * Numbers the notifications of threads, so that a client can resume after the last one it saw.
 */
events?: boolean, };

/**
 * Where a client left off, in `thread/resume`.
 */
export type QuipuResume = { 
/**
 * The number of the last event that the client saw of the thread.
 */
after: number, };

/**
 * How much of one limit on use is spent; members the provider did not report are null.
 */
export type RateLimitSnapshot = { 
/**
 * Which limit this is; `codex` is the main one.
 */
limitId: string | null, 
/**
 * A name to show, for limits other than the main one.
 */
limitName: string | null, 
/**
 * The first time window that the limit counts in.
 */
primary: RateLimitWindow | null, 
/**
 * The second time window, where there is one.
 */
secondary: RateLimitWindow | null, 
/**
 * Set on the main limit only.
 */
credits: CreditsSnapshot | null, planType: PlanType | null, };

/**
 * One time window of a limit.
 */
export type RateLimitWindow = { 
/**
 * The spent share of what the window allows, in percent.
 */
usedPercent: number, 
/**
 * The length of the window in minutes.
 */
windowDurationMins: number | null, 
/**
 * When the next window starts, in Unix seconds.
 */
resetsAt: number | null, };

/**
 * Parameters of the notification `rawResponseItem/completed`, sent on threads started with
 * `experimentalRawEvents`.
 */
export type RawResponseItemCompletedNotification = { threadId: string, turnId: string, 
/**
 * An item that was added to the model's history.
 */
item: ResponseItem, };

/**
 * What a sandboxed command may read.
 */
export type ReadOnlyAccess = { "type": "restricted", 
/**
 * Also the system's own directories, such as `/usr` and `/etc`.
 */
includePlatformDefaults?: boolean, readableRoots?: Array<AbsolutePathBuf>, } | { "type": "fullAccess" };

/**
 * The version of the provider's protocol.
 */
export type RealtimeConversationVersion = "v1" | "v2";

/**
 * How much the model thinks before it speaks or acts.
 */
export type ReasoningEffort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | "ultra" | (string & {});

/**
 * An effort that a model supports.
 */
export type ReasoningEffortOption = { reasoningEffort: ReasoningEffort, 
/**
 * What it is good for.
 */
description: string, };

/**
 * A part of the model's thoughts.
 */
export type ReasoningItemContent = { "type": "reasoning_text", text: string, } | { "type": "text", text: string, };

/**
 * A part of the summary of the model's thoughts.
 */
export type ReasoningItemReasoningSummary = { "type": "summary_text", text: string, };

/**
 * How the provider sums up the model's thoughts.
 */
export type ReasoningSummary = "auto" | "concise" | "detailed" | "none";

/**
 * Parameters of the notification `item/reasoning/summaryPartAdded`.
 */
export type ReasoningSummaryPartAddedNotification = { threadId: string, turnId: string, itemId: string, 
/**
 * The part of `summary` that begins, counted from 0.
 */
summaryIndex: number, };

/**
 * Parameters of the notification `item/reasoning/summaryTextDelta`.
 */
export type ReasoningSummaryTextDeltaNotification = { threadId: string, turnId: string, itemId: string, 
/**
 * Text to append.
 */
delta: string, 
/**
 * The part of `summary`, counted from 0.
 */
summaryIndex: number, };

/**
 * Parameters of the notification `item/reasoning/textDelta`.
 */
export type ReasoningTextDeltaNotification = { threadId: string, turnId: string, itemId: string, 
/**
 * Text to append.
 */
delta: string, 
/**
 * The part of `content`, counted from 0.
 */
contentIndex: number, };

/**
 * The id of a request: a string or an integer, given back as it came.
 */
export type RequestId = string | number;

/**
 * Rights that the model asks for; null parts are not asked for.
 */
export type RequestPermissionProfile = { network: AdditionalNetworkPermissions | null, fileSystem: AdditionalFileSystemPermissions | null, };

/**
 * A region in which requests are processed.
 */
export type ResidencyRequirement = "us";

/**
 * Something that an MCP server lets others read.
 */
export type Resource = { 
/**
 * Hints of MCP, as received.
 */
annotations?: JsonValue, description?: string, mimeType?: string, name: string, 
/**
 * In bytes.
 */
size?: number, title?: string, uri: string, 
/**
 * As received.
 */
icons?: Array<JsonValue>, 
/**
 * As received.
 */
_meta?: JsonValue, };

/**
 * A family of resources, with an address that has gaps to fill in.
 */
export type ResourceTemplate = { 
/**
 * Hints of MCP, as received.
 */
annotations?: JsonValue, 
/**
 * A URI template of RFC 6570.
 */
uriTemplate: string, name: string, title?: string, description?: string, mimeType?: string, };

/**
 * One item of the model's history; ids that the provider gave are read but not written.
 */
export type ResponseItem = { "type": "message", 
/**
 * `user`, `assistant` or `developer`.
 */
role: string, content: Array<ContentItem>, 
/**
 * Whether the model wants the turn to end here.
 */
end_turn?: boolean, phase?: MessagePhase, } | { "type": "reasoning", summary: Array<ReasoningItemReasoningSummary>, content?: Array<ReasoningItemContent>, 
/**
 * The thoughts in a form that only the provider can read.
 */
encrypted_content?: string | null, } | { "type": "local_shell_call", call_id?: string | null, status: LocalShellStatus, action: LocalShellAction, } | { "type": "function_call", name: string, 
/**
 * The group of tools that the name belongs to.
 */
namespace?: string, 
/**
 * JSON in a string, as the model wrote it.
 */
arguments: string, call_id: string, } | { "type": "tool_search_call", call_id?: string | null, status?: string, 
/**
 * Who searches: `client` or `server`.
 */
execution: string, arguments: unknown, } | { "type": "function_call_output", call_id: string, output: FunctionCallOutputBody, } | { "type": "custom_tool_call", status?: string, call_id: string, name: string, 
/**
 * The text, as the model wrote it.
 */
input: string, } | { "type": "custom_tool_call_output", call_id: string, name?: string, output: FunctionCallOutputBody, } | { "type": "tool_search_output", call_id?: string | null, status: string, 
/**
 * Who searched: `client` or `server`.
 */
execution: string, tools: unknown[], } | { "type": "web_search_call", status?: string, action?: LegacyWebSearchAction, } | { "type": "image_generation_call", id: string, status: string, revised_prompt?: string, 
/**
 * The image in base64.
 */
result: string, } | { "type": "ghost_snapshot", ghost_commit: GhostCommit, } | { "type": "compaction", 
/**
 * That history in a form that only the provider can read.
 */
encrypted_content: string, } | { "type": "other" };

/**
 * The answer to an approval request of the first protocol version.
 */
export type ReviewDecision = "approved" | { "approved_execpolicy_amendment": { proposed_execpolicy_amendment: ExecPolicyAmendment, } } | "approved_for_session" | { "network_policy_amendment": { network_policy_amendment: NetworkPolicyAmendment, } } | "denied" | "abort";

/**
 * Where a review takes place.
 */
export type ReviewDelivery = "inline" | "detached";

/**
 * Parameters of `review/start`.
 */
export type ReviewStartParams = { threadId: string, target: ReviewTarget, 
/**
 * `inline` if absent.
 */
delivery?: ReviewDelivery | null, };

/**
 * Result of `review/start`.
 */
export type ReviewStartResponse = { 
/**
 * The turn of the review, with what is reviewed as a message of the user.
 */
turn: Turn, 
/**
 * The thread of the review: the same for `inline`, a new one for `detached`.
 */
reviewThreadId: string, };

/**
 * What is reviewed.
 */
export type ReviewTarget = { "type": "uncommittedChanges" } | { "type": "baseBranch", branch: string, } | { "type": "commit", sha: string, 
/**
 * Its subject, to show and to tell the reviewer.
 */
title?: string | null, } | { "type": "custom", instructions: string, };

/**
 * What commands may do on their own, in one word.
 */
export type SandboxMode = "read-only" | "workspace-write" | "danger-full-access";

/**
 * What commands may do on their own, in detail.
 */
export type SandboxPolicy = { "type": "dangerFullAccess" } | { "type": "readOnly", access?: ReadOnlyAccess, networkAccess?: boolean, } | { "type": "externalSandbox", 
/**
 * What that sandbox allows; the model is told, nothing is enforced.
 */
networkAccess?: NetworkAccess, } | { "type": "workspaceWrite", 
/**
 * Directories to write in besides the working directory.
 */
writableRoots?: Array<AbsolutePathBuf>, 
/**
 * What may be read beyond the directories to write in.
 */
readOnlyAccess?: ReadOnlyAccess, networkAccess?: boolean, 
/**
 * Forbids writing in the directory that `TMPDIR` names.
 */
excludeTmpdirEnvVar?: boolean, 
/**
 * Forbids writing in `/tmp`.
 */
excludeSlashTmp?: boolean, };

/**
 * The table `[sandbox_workspace_write]`.
 */
export type SandboxWorkspaceWrite = { 
/**
 * Directories to write in besides the working directory.
 */
writable_roots: Array<string>, network_access: boolean, 
/**
 * Forbids writing in the directory that `TMPDIR` names.
 */
exclude_tmpdir_env_var: boolean, 
/**
 * Forbids writing in `/tmp`.
 */
exclude_slash_tmp: boolean, };

/**
 * A number that is true now.
 */
export type ServerDiagnosticsGauge = { name: string, value: number, };

/**
 * Parameters of `server/diagnostics`.
 */
export type ServerDiagnosticsParams = Record<string, never>;

/**
 * The process of the server.
 */
export type ServerDiagnosticsProcess = { id: number, 
/**
 * Null where it is not known.
 */
residentMemoryBytes: number | null, 
/**
 * Always null.
 */
physicalFootprintBytes: number | null, };

/**
 * Result of `server/diagnostics`.
 */
export type ServerDiagnosticsResponse = { process: ServerDiagnosticsProcess, gauges: Array<ServerDiagnosticsGauge>, };

/**
 * Parameters of the notification `serverRequest/resolved`: a request to clients needs no answer
 * any more.
 */
export type ServerRequestResolvedNotification = { threadId: string, 
/**
 * The `id` of that request.
 */
requestId: RequestId, };

/**
 * Which kind of processing to ask the provider for.
 */
export type ServiceTier = "fast" | "priority" | "flex" | "default" | (string & {});

/**
 * What started a thread.
 */
export type SessionSource = "cli" | "vscode" | "exec" | "appServer" | { "custom": string } | { "subAgent": SubAgentSource } | "unknown";

/**
 * The settings of a way of working together.
 */
export type Settings = { 
/**
 * Takes the place of the thread's model.
 */
model: string, 
/**
 * Takes the place of the thread's effort.
 */
reasoning_effort?: ReasoningEffort | null, 
/**
 * Null uses the built-in ones of the mode.
 */
developer_instructions?: string | null, };

/**
 * What a skill needs.
 */
export type SkillDependencies = { tools: Array<SkillToolDependency>, };

/**
 * A skill that cannot be used.
 */
export type SkillErrorInfo = { 
/**
 * Its `SKILL.md`; the working directory if no skill could be looked for.
 */
path: string, message: string, };

/**
 * How to show a skill.
 */
export type SkillInterface = { displayName?: string, shortDescription?: string, 
/**
 * An absolute path, which need not exist.
 */
iconSmall?: string, 
/**
 * An absolute path, which need not exist.
 */
iconLarge?: string, 
/**
 * As `#RRGGBB`.
 */
brandColor?: string, 
/**
 * Something to start with.
 */
defaultPrompt?: string, };

/**
 * A skill.
 */
export type SkillMetadata = { 
/**
 * At most 64 characters; skills of plugins are named `<plugin>:<skill>`.
 */
name: string, 
/**
 * What the model goes by to pick it; at most 1024 characters.
 */
description: string, 
/**
 * From `SKILL.md`; the one in `interface` is newer.
 */
shortDescription?: string, interface?: SkillInterface, dependencies?: SkillDependencies, 
/**
 * Its `SKILL.md`.
 */
path: string, scope: SkillScope, enabled: boolean, };

/**
 * Where a skill comes from.
 */
export type SkillScope = "user" | "repo" | "system" | "admin";

/**
 * What a plugin shows of a skill.
 */
export type SkillSummary = { name: string, description: string, shortDescription: string | null, interface: SkillInterface | null, 
/**
 * Its `SKILL.md`.
 */
path: string, enabled: boolean, };

/**
 * A tool that a skill needs.
 */
export type SkillToolDependency = { 
/**
 * The kind of tool, such as an MCP server.
 */
type: string, 
/**
 * The name of the tool.
 */
value: string, description?: string, 
/**
 * How an MCP server is reached.
 */
transport?: string, 
/**
 * What starts an MCP server.
 */
command?: string, 
/**
 * Where an MCP server is.
 */
url?: string, };

/**
 * Parameters of the notification `skills/changed`: lists of skills are out of date.
 */
export type SkillsChangedNotification = Record<string, never>;

/**
 * Parameters of `skills/config/write`.
 */
export type SkillsConfigWriteParams = { 
/**
 * The `SKILL.md` of the skill; either this or `name`.
 */
path?: AbsolutePathBuf | null, 
/**
 * The name of the skill; either this or `path`.
 */
name?: string | null, enabled: boolean, };

/**
 * Result of `skills/config/write`.
 */
export type SkillsConfigWriteResponse = { 
/**
 * Whether the skill is enabled now.
 */
effectiveEnabled: boolean, };

/**
 * Parameters of `skills/extraRoots/set`.
 */
export type SkillsExtraRootsSetParams = { 
/**
 * Directories with skills, which replace those that were set before.
 */
extraRoots: Array<AbsolutePathBuf>, };

/**
 * Result of `skills/extraRoots/set`.
 */
export type SkillsExtraRootsSetResponse = Record<string, never>;

/**
 * The skills for one working directory.
 */
export type SkillsListEntry = { 
/**
 * As in the request.
 */
cwd: string, 
/**
 * Sorted by scope (`repo`, `user`, `system`, `admin`), then by name.
 */
skills: Array<SkillMetadata>, errors: Array<SkillErrorInfo>, };

/**
 * More directories to look in for one working directory.
 */
export type SkillsListExtraRootsForCwd = { 
/**
 * One of `cwds`; others are ignored.
 */
cwd: string, 
/**
 * Absolute paths; skills in them have the scope `user`.
 */
extraUserRoots: Array<string>, };

/**
 * Parameters of `skills/list`.
 */
export type SkillsListParams = { 
/**
 * The working directories to list skills for; the server's own if empty.
 */
cwds?: Array<string>, 
/**
 * Looks on the disk again instead of using an earlier list.
 */
forceReload?: boolean, perCwdExtraUserRoots?: Array<SkillsListExtraRootsForCwd> | null, };

/**
 * Result of `skills/list`.
 */
export type SkillsListResponse = { 
/**
 * One entry per working directory, in the order of the request.
 */
data: Array<SkillsListEntry>, };

/**
 * The order of a list.
 */
export type SortDirection = "asc" | "desc";

/**
 * What a thread was started for by another thread or by the server.
 */
export type SubAgentSource = "review" | "compact" | { "thread_spawn": { parent_thread_id: ThreadId, 
/**
 * How many agents are above it; at least 1.
 */
depth: number, agent_path: AgentPath | null, agent_nickname: string | null, 
/**
 * The kind of agent, which decides its settings.
 */
agent_role: string | null, } } | "memory_consolidation" | { "other": string };

/**
 * Parameters of the notification `item/commandExecution/terminalInteraction`.
 */
export type TerminalInteractionNotification = { threadId: string, turnId: string, 
/**
 * The item that started the process.
 */
itemId: string, processId: string, 
/**
 * What the model wrote; empty if it only looked for new output.
 */
stdin: string, };

/**
 * A part of a text that the client shows in its own way.
 */
export type TextElement = { byteRange: ByteRange, 
/**
 * What to show in its place.
 */
placeholder?: string | null, };

/**
 * A place in a text file; both numbers count from 1.
 */
export type TextPosition = { line: number, 
/**
 * Counted in characters.
 */
column: number, };

/**
 * A stretch of a text file.
 */
export type TextRange = { start: TextPosition, end: TextPosition, };

/**
 * A conversation with the agent.
 */
export type Thread = { id: string, 
/**
 * The tree of threads that it belongs to; its own `id`.
 */
sessionId?: string, 
/**
 * The user's first message; empty before there is one.
 */
preview: string, 
/**
 * Whether it lives in memory only.
 */
ephemeral: boolean, 
/**
 * The section that it is in; absent if it is in none. Shown by `thread/list` and `thread/read`.
 */
section?: ThreadSection, 
/**
 * When it came into the section, in Unix seconds.
 */
sectionEnteredAt?: number, 
/**
 * Always null: there are no projects.
 */
projectId?: string | null, modelProvider: string, 
/**
 * When it was started, in Unix seconds.
 */
createdAt: number, 
/**
 * When it last changed, in Unix seconds.
 */
updatedAt: number, status: ThreadStatus, 
/**
 * The rollout file, which the first message creates; null if `ephemeral`. Unstable.
 */
path: string | null, cwd: string, 
/**
 * The version of the program that started it.
 */
cliVersion: string, source: SessionSource, 
/**
 * Set on threads that another agent spawned.
 */
agentNickname: string | null, 
/**
 * Set on threads that another agent spawned.
 */
agentRole: string | null, 
/**
 * Null if it was not started in a Git repository, or is not stored yet.
 */
gitInfo: GitInfo | null, 
/**
 * What `thread/name/set` last set; a fork starts without one.
 */
name: string | null, 
/**
 * Filled by `thread/resume`, `thread/fork`, `thread/rollback` and `thread/read` with
 * `includeTurns`; else empty.
 */
turns: Array<Turn>, };

/**
 * What a running thread waits for.
 */
export type ThreadActiveFlag = "waitingOnApproval" | "waitingOnUserInput";

/**
 * Parameters of `thread/archive`.
 */
export type ThreadArchiveParams = { threadId: string, };

/**
 * Result of `thread/archive`.
 */
export type ThreadArchiveResponse = Record<string, never>;

/**
 * Parameters of the notification `thread/archived`.
 */
export type ThreadArchivedNotification = { threadId: string, };

/**
 * What a client stored with a thread.
 */
export type ThreadAttachment = { id: string, attachmentType: string, 
/**
 * Unique among the attachments of this type in the thread.
 */
identityKey: string, payload: JsonValue, 
/**
 * In Unix seconds.
 */
createdAt: number, };

/**
 * Whether an attachment was there before.
 */
export type ThreadAttachmentAddOutcome = "created" | "existing";

/**
 * Parameters of `thread/attachment/add`.
 */
export type ThreadAttachmentAddParams = { threadId: string, 
/**
 * Must not be empty.
 */
attachmentType: string, 
/**
 * Must not be empty.
 */
identityKey: string, 
/**
 * At most 65536 bytes of JSON.
 */
payload: JsonValue, };

/**
 * Result of `thread/attachment/add`.
 */
export type ThreadAttachmentAddResponse = { outcome: ThreadAttachmentAddOutcome, attachment: ThreadAttachment, };

/**
 * Parameters of `thread/attachment/list`.
 */
export type ThreadAttachmentListParams = { threadId: string, 
/**
 * The `nextCursor` of the page before; absent for the first.
 */
cursor?: string | null, 
/**
 * Attachments per page, from 1 to 100; 25 if absent.
 */
limit?: number | null, };

/**
 * Result of `thread/attachment/list`.
 */
export type ThreadAttachmentListResponse = { 
/**
 * The oldest first.
 */
data: Array<ThreadAttachment>, 
/**
 * Null on the last page.
 */
nextCursor: string | null, };

/**
 * What happened to an attachment.
 */
export type ThreadAttachmentOperation = "created" | "deleted";

/**
 * A thread that has an attachment.
 */
export type ThreadAttachmentOwner = { threadId: string, archived: boolean, };

/**
 * Parameters of `thread/attachmentOwner/list`.
 */
export type ThreadAttachmentOwnerListParams = { attachmentType: string, identityKey: string, 
/**
 * Only archived threads, or only others; all if absent.
 */
archived?: boolean | null, 
/**
 * The `nextCursor` of the page before; absent for the first.
 */
cursor?: string | null, 
/**
 * Threads per page, from 1 to 100; 25 if absent.
 */
limit?: number | null, };

/**
 * Result of `thread/attachmentOwner/list`.
 */
export type ThreadAttachmentOwnerListResponse = { data: Array<ThreadAttachmentOwner>, 
/**
 * Null on the last page.
 */
nextCursor: string | null, };

/**
 * Parameters of `thread/attachment/remove`. Removing an attachment that does not exist is not an error.
 */
export type ThreadAttachmentRemoveParams = { threadId: string, attachmentType: string, identityKey: string, };

/**
 * Result of `thread/attachment/remove`.
 */
export type ThreadAttachmentRemoveResponse = Record<string, never>;

/**
 * Parameters of the notification `thread/attachment/updated`.
 */
export type ThreadAttachmentUpdatedNotification = { threadId: string, attachmentType: string, identityKey: string, attachmentId: string, operation: ThreadAttachmentOperation, };

/**
 * A command that outlived its call.
 */
export type ThreadBackgroundTerminal = { 
/**
 * The item that started it.
 */
itemId: string, 
/**
 * The number that the model knows it by.
 */
processId: string, 
/**
 * The command line with shell quoting.
 */
command: string, cwd: string, 
/**
 * Always null.
 */
osPid: number | null, 
/**
 * Always null.
 */
cpuPercent: number | null, 
/**
 * Always null.
 */
rssKb: number | null, };

/**
 * Parameters of `thread/backgroundTerminals/clean`.
 */
export type ThreadBackgroundTerminalsCleanParams = { threadId: string, };

/**
 * Result of `thread/backgroundTerminals/clean`.
 */
export type ThreadBackgroundTerminalsCleanResponse = Record<string, never>;

/**
 * Parameters of `thread/backgroundTerminals/list`.
 */
export type ThreadBackgroundTerminalsListParams = { threadId: string, 
/**
 * The `nextCursor` of the page before; absent for the first.
 */
cursor?: string | null, 
/**
 * Terminals per page; all if absent.
 */
limit?: number | null, };

/**
 * Result of `thread/backgroundTerminals/list`.
 */
export type ThreadBackgroundTerminalsListResponse = { data: Array<ThreadBackgroundTerminal>, 
/**
 * Null on the last page.
 */
nextCursor: string | null, };

/**
 * Parameters of `thread/backgroundTerminals/terminate`.
 */
export type ThreadBackgroundTerminalsTerminateParams = { threadId: string, processId: string, };

/**
 * Result of `thread/backgroundTerminals/terminate`.
 */
export type ThreadBackgroundTerminalsTerminateResponse = { 
/**
 * Whether there was such a command.
 */
terminated: boolean, };

/**
 * Parameters of the notification `thread/closed`: the thread is no longer loaded.
 */
export type ThreadClosedNotification = { threadId: string, };

/**
 * Parameters of `thread/compact/start`.
 */
export type ThreadCompactStartParams = { threadId: string, };

/**
 * Result of `thread/compact/start`.
 */
export type ThreadCompactStartResponse = Record<string, never>;

/**
 * Parameters of `thread/decrement_elicitation`: the client is done asking the user something.
 */
export type ThreadDecrementElicitationParams = { threadId: string, };

/**
 * Result of `thread/decrement_elicitation`.
 */
export type ThreadDecrementElicitationResponse = { 
/**
 * How many questions the client is asking the user now.
 */
count: number, 
/**
 * Whether the time limits of commands stand still meanwhile; so if `count` is not 0.
 */
paused: boolean, };

/**
 * Parameters of `thread/delete`.
 */
export type ThreadDeleteParams = { threadId: string, };

/**
 * Result of `thread/delete`.
 */
export type ThreadDeleteResponse = Record<string, never>;

/**
 * Parameters of the notification `thread/deleted`.
 */
export type ThreadDeletedNotification = { threadId: string, };

/**
 * Where the numbered events of a thread are.
 */
export type ThreadEvents = { 
/**
 * The number of the last event so far; those up to it that the client asked for follow this answer, then later ones.
 */
seq: number, 
/**
 * What follows, if the client said where it left off.
 */
replay?: EventReplay, };

/**
 * Parameters of `thread/fork`.
 */
export type ThreadForkParams = { 
/**
 * The source, which stays as it is; always needed, though `path` wins over it.
 */
threadId: string, 
/**
 * The rollout file to copy.
 */
path?: string | null, 
/**
 * The model's name, which is not checked; the configured one if absent, not the source's.
 */
model?: string | null, 
/**
 * A key of `model_providers` in the configuration.
 */
modelProvider?: string | null, 
/**
 * If absent, the configured one; null asks for none.
 */
serviceTier?: ServiceTier | null, 
/**
 * The working directory; the one of the source if absent.
 */
cwd?: string | null, 
/**
 * If absent, the configured one.
 */
approvalPolicy?: AskForApproval | null, 
/**
 * If absent, the configured one.
 */
approvalsReviewer?: ApprovalsReviewer | null, 
/**
 * If absent, the configured one.
 */
sandbox?: SandboxMode | null, 
/**
 * The id of a permission profile, in place of `sandbox`: `:read-only`, `:workspace`,
 * `:danger-full-access`, or a table of `[permissions]` in the configuration.
 */
permissions?: string | null, 
/**
 * The directories that `workspaceWrite` is about; they must include the working directory.
 */
runtimeWorkspaceRoots?: Array<AbsolutePathBuf> | null, 
/**
 * Settings for this thread by dotted key, as in `config.toml`; other parameters win.
 */
config?: { [key in string]?: JsonValue } | null, 
/**
 * Takes the place of the instructions that the thread was started with.
 */
baseInstructions?: string | null, 
/**
 * Given to the model besides its own instructions.
 */
developerInstructions?: string | null, 
/**
 * Keeps the fork in memory only.
 */
ephemeral?: boolean, 
/**
 * Asks to store commands, patches, tool calls and errors as well, which Quipu always does.
 */
persistExtendedHistory?: boolean, 
/**
 * Leaves `turns` of the answer empty, for clients that read them with `thread/turns/list`.
 */
excludeTurns?: boolean, 
/**
 * The last turn that is copied; the last one of all if absent.
 */
lastTurnId?: string | null, 
/**
 * The first turn that is not copied, in place of `lastTurnId`.
 */
beforeTurnId?: string | null, 
/**
 * Makes the request safe to repeat: sent again with the same key, it acts once and is answered the same.
 */
idempotencyKey?: string, };

/**
 * Result of `thread/fork`.
 */
export type ThreadForkResponse = { 
/**
 * The new thread with a copy of the turns; one that is running is `interrupted` in it.
 */
thread: Thread, model: string, modelProvider: string, 
/**
 * Null if none is asked for.
 */
serviceTier: ServiceTier | null, cwd: string, 
/**
 * The directories that `workspaceWrite` is about: the working directory, and those that the client added.
 */
runtimeWorkspaceRoots?: Array<AbsolutePathBuf>, 
/**
 * The permission profile that was chosen; null if none was.
 */
activePermissionProfile?: ActivePermissionProfile | null, approvalPolicy: AskForApproval, approvalsReviewer: ApprovalsReviewer, sandbox: SandboxPolicy, 
/**
 * Null leaves it to the model.
 */
reasoningEffort: ReasoningEffort | null, 
/**
 * Where the numbered events of the thread are, for clients that asked for them.
 */
quipu?: ThreadEvents, };

/**
 * The goal of a thread.
 */
export type ThreadGoal = { threadId: string, objective: string, status: ThreadGoalStatus, 
/**
 * The tokens that may be used; null for no limit.
 */
tokenBudget: number | null, 
/**
 * The tokens used by turns while it was active, without those that the provider had cached.
 */
tokensUsed: number, 
/**
 * The time that such turns took.
 */
timeUsedSeconds: number, 
/**
 * In Unix seconds.
 */
createdAt: number, 
/**
 * In Unix seconds.
 */
updatedAt: number, };

/**
 * Parameters of `thread/goal/clear`.
 */
export type ThreadGoalClearParams = { threadId: string, };

/**
 * Result of `thread/goal/clear`.
 */
export type ThreadGoalClearResponse = { 
/**
 * Whether there was a goal.
 */
cleared: boolean, };

/**
 * Parameters of the notification `thread/goal/cleared`.
 */
export type ThreadGoalClearedNotification = { threadId: string, };

/**
 * Parameters of `thread/goal/get`.
 */
export type ThreadGoalGetParams = { threadId: string, };

/**
 * Result of `thread/goal/get`.
 */
export type ThreadGoalGetResponse = { 
/**
 * Null if the thread has none.
 */
goal: ThreadGoal | null, };

/**
 * Who changes a goal.
 */
export type ThreadGoalMutationOrigin = "user" | "automatic";

/**
 * Parameters of `thread/goal/set`. What is absent stays as it is.
 */
export type ThreadGoalSetParams = { threadId: string, 
/**
 * Has no effect.
 */
origin?: ThreadGoalMutationOrigin | null, 
/**
 * A new goal, which replaces the one before; must not be empty.
 */
objective?: string | null, 
/**
 * `active` for a new goal.
 */
status?: ThreadGoalStatus | null, 
/**
 * Must be positive; null for no limit.
 */
tokenBudget?: number | null, };

/**
 * Result of `thread/goal/set`.
 */
export type ThreadGoalSetResponse = { goal: ThreadGoal, };

/**
 * How far a goal has come. Only while it is `active` does the server start turns by itself.
 */
export type ThreadGoalStatus = "active" | "paused" | "blocked" | "usageLimited" | "budgetLimited" | "complete";

/**
 * Parameters of the notification `thread/goal/updated`.
 */
export type ThreadGoalUpdatedNotification = { threadId: string, 
/**
 * The turn that changed it; null if a client did.
 */
turnId: string | null, goal: ThreadGoal, };

/**
 *  The id of a thread.
 */
export type ThreadId = string;

/**
 * Parameters of `thread/increment_elicitation`: the client begins to ask the user something.
 */
export type ThreadIncrementElicitationParams = { threadId: string, };

/**
 * Result of `thread/increment_elicitation`.
 */
export type ThreadIncrementElicitationResponse = { 
/**
 * How many questions the client is asking the user now.
 */
count: number, 
/**
 * Whether the time limits of commands stand still meanwhile; so if `count` is not 0.
 */
paused: boolean, };

/**
 * Parameters of `thread/inject_items`.
 */
export type ThreadInjectItemsParams = { threadId: string, 
/**
 * Items of the Responses API, added to what the model reads with its next request.
 */
items: Array<JsonValue>, };

/**
 * Result of `thread/inject_items`.
 */
export type ThreadInjectItemsResponse = Record<string, never>;

/**
 * One thing that was said or done. `item/started` announces it, deltas may add to it,
 * `item/completed` has it in full.
 */
export type ThreadItem = { "type": "userMessage", id: string, content: Array<UserInput>, } | { "type": "hookPrompt", id: string, fragments: Array<HookPromptFragment>, } | { "type": "agentMessage", id: string, 
/**
 * Empty at the start if deltas follow.
 */
text: string, 
/**
 * Null if the model does not say.
 */
phase: MessagePhase | null, 
/**
 * The notes on earlier threads that it cites.
 */
memoryCitation: MemoryCitation | null, } | { "type": "plan", id: string, text: string, } | { "type": "reasoning", id: string, 
/**
 * The provider's summary, one string per part.
 */
summary: Array<string>, 
/**
 * The thoughts themselves, one string per part; few providers show them.
 */
content: Array<string>, } | { "type": "commandExecution", id: string, 
/**
 * The command line with shell quoting.
 */
command: string, cwd: string, 
/**
 * The name of a process that may go on in the background; else null.
 */
processId: string | null, source: CommandExecutionSource, status: CommandExecutionStatus, 
/**
 * What it seems to do, one entry per understood part.
 */
commandActions: Array<CommandAction>, 
/**
 * Both output streams as they came, at most 1 MiB; null at the start and if empty.
 */
aggregatedOutput: string | null, 
/**
 * Null until it ended; 124 after a timeout, -1 if it never ran.
 */
exitCode: number | null, 
/**
 * In milliseconds; null until it ended.
 */
durationMs: number | null, } | { "type": "fileChange", id: string, 
/**
 * Sorted by path.
 */
changes: Array<FileUpdateChange>, status: PatchApplyStatus, } | { "type": "mcpToolCall", id: string, server: string, tool: string, status: McpToolCallStatus, 
/**
 * Null if the model gave none.
 */
arguments: JsonValue, 
/**
 * Also set when the tool itself reports an error.
 */
result: McpToolCallResult | null, 
/**
 * Set when the call failed or the user rejected it.
 */
error: McpToolCallError | null, 
/**
 * In milliseconds; null until it ended.
 */
durationMs: number | null, } | { "type": "dynamicToolCall", id: string, 
/**
 * The namespace of the tool, if it is in one.
 */
namespace?: string, tool: string, arguments: JsonValue, status: DynamicToolCallStatus, 
/**
 * What the client answered; null until then.
 */
contentItems: Array<DynamicToolCallOutputContentItem> | null, 
/**
 * What the client answered; null until then.
 */
success: boolean | null, 
/**
 * In milliseconds; null until it ended.
 */
durationMs: number | null, } | { "type": "collabAgentToolCall", id: string, tool: CollabAgentTool, status: CollabAgentToolCallStatus, 
/**
 * The agent that makes the call.
 */
senderThreadId: string, 
/**
 * The sub-agents it is about; for a spawn, none until it exists.
 */
receiverThreadIds: Array<string>, 
/**
 * What the sub-agent is sent; null for waiting, closing and resuming.
 */
prompt: string | null, 
/**
 * Set for a spawn: the model asked for, then the one in use.
 */
model: string | null, 
/**
 * Set for a spawn.
 */
reasoningEffort: ReasoningEffort | null, 
/**
 * The last known states by thread id.
 */
agentsStates: { [key in string]?: CollabAgentState }, } | { "type": "webSearch", id: string, 
/**
 * What to show of it; empty at the start if it is not known yet.
 */
query: string, action: WebSearchAction | null, } | { "type": "imageView", id: string, path: string, } | { "type": "imageGeneration", id: string, 
/**
 * The provider's word, such as `in_progress` or `completed`.
 */
status: string, 
/**
 * What the provider made of the prompt.
 */
revisedPrompt: string | null, 
/**
 * The image in base64; empty until it is done.
 */
result: string, 
/**
 * The file that the server keeps it in.
 */
savedPath?: string, } | { "type": "enteredReviewMode", id: string, 
/**
 * What is reviewed, in a few words.
 */
review: string, } | { "type": "exitedReviewMode", id: string, 
/**
 * The review as text, findings included.
 */
review: string, } | { "type": "contextCompaction", id: string, };

/**
 * One item of a thread's history.
 */
export type ThreadItemEntry = { turnId: string, item: ThreadItem, 
/**
 * In Unix milliseconds; null if that is not stored.
 */
startedAtMs: number | null, 
/**
 * In Unix milliseconds; null if that is not stored.
 */
completedAtMs: number | null, };

/**
 * An item of the turn that `turnId` names.
 */
export type ThreadItemsListAnchor = { "type": "item", itemId: string, };

/**
 * Where a page of items begins.
 */
export type ThreadItemsListCursor = string | ThreadItemsListAnchor;

/**
 * Parameters of `thread/items/list`.
 */
export type ThreadItemsListParams = { threadId: string, 
/**
 * Only the items of this turn.
 */
turnId?: string | null, 
/**
 * Absent for the first page. An item needs `turnId` too.
 */
cursor?: ThreadItemsListCursor | null, 
/**
 * Items per page, from 1 to 100; 25 if absent.
 */
limit?: number | null, 
/**
 * `asc` if absent.
 */
sortDirection?: SortDirection | null, };

/**
 * Result of `thread/items/list`.
 */
export type ThreadItemsListResponse = { data: Array<ThreadItemEntry>, 
/**
 * Null on the last page.
 */
nextCursor: string | null, 
/**
 * Where the page begins, for the other direction; that page begins with the same item. Null if the page is empty.
 */
backwardsCursor: string | null, };

/**
 * Parameters of `thread/items/read`.
 */
export type ThreadItemsReadParams = { threadId: string, turnId: string, 
/**
 * 1 to 100 ids of items of the turn.
 */
itemIds: Array<string>, };

/**
 * Result of `thread/items/read`.
 */
export type ThreadItemsReadResponse = { 
/**
 * Those that exist, in the order of the turn.
 */
data: Array<ThreadItemEntry>, };

/**
 * Parameters of `thread/list`.
 */
export type ThreadListParams = { 
/**
 * The `nextCursor` of the page before; absent for the first.
 */
cursor?: string | null, 
/**
 * Threads per page, from 1 to 100; 25 if absent.
 */
limit?: number | null, 
/**
 * `created_at` if absent.
 */
sortKey?: ThreadSortKey | null, 
/**
 * If absent, only threads of the configured provider; if empty, of all.
 */
modelProviders?: Array<string> | null, 
/**
 * If absent or empty, only threads that a user started: `cli` and `vscode`.
 */
sourceKinds?: Array<ThreadSourceKind> | null, 
/**
 * Whether to list only archived threads, or only the others; `false` if absent.
 */
archived?: boolean | null, 
/**
 * Only threads with exactly this working directory.
 */
cwd?: string | Array<string> | null, 
/**
 * Threads that are not listed, at most 100.
 */
excludedThreadIds?: Array<string> | null, 
/**
 * `desc` if absent.
 */
sortDirection?: SortDirection | null, 
/**
 * If absent, threads of every section; null asks for those in none.
 */
sectionId?: string | null, 
/**
 * If absent, threads of every project; null asks for those in none. No thread is in a project.
 */
projectId?: string | null, 
/**
 * Must be absent or empty: what a thread's client calls itself is not indexed.
 */
originators?: Array<string> | null, 
/**
 * Has no effect: the index is always current.
 */
useStateDbOnly?: boolean, 
/**
 * Only threads that agents of this thread were given.
 */
parentThreadId?: string | null, 
/**
 * The same, with those that they started in turn.
 */
ancestorThreadId?: string | null, 
/**
 * Only threads attached to this one. No thread is attached to another.
 */
attachedToThreadId?: string | null, 
/**
 * Only threads whose first message has this text in it; case counts.
 */
searchTerm?: string | null, };

/**
 * Result of `thread/list`.
 */
export type ThreadListResponse = { 
/**
 * Without turns.
 */
data: Array<Thread>, 
/**
 * What is read of the threads on this page, by their ids.
 */
readStates?: { [key in string]?: ThreadReadState } | null, 
/**
 * Null on the last page.
 */
nextCursor: string | null, 
/**
 * Where the page begins, for the other direction; null if the page is empty.
 */
backwardsCursor?: string | null, };

/**
 * Parameters of `thread/loaded/list`.
 */
export type ThreadLoadedListParams = { 
/**
 * A thread id; the list goes on after it.
 */
cursor?: string | null, 
/**
 * Threads per page; all if absent.
 */
limit?: number | null, };

/**
 * Result of `thread/loaded/list`.
 */
export type ThreadLoadedListResponse = { 
/**
 * Thread ids in ascending order, those of sub-agents and ephemeral threads included.
 */
data: Array<string>, 
/**
 * Null on the last page.
 */
nextCursor: string | null, };

/**
 * Changes to what is stored about Git: absent keeps, null clears, a string replaces. One is
 * needed.
 */
export type ThreadMetadataGitInfoUpdateParams = { sha?: string | null, branch?: string | null, originUrl?: string | null, };

/**
 * Parameters of `thread/metadata/update`.
 */
export type ThreadMetadataUpdateParams = { threadId: string, gitInfo?: ThreadMetadataGitInfoUpdateParams | null, };

/**
 * Result of `thread/metadata/update`.
 */
export type ThreadMetadataUpdateResponse = { thread: Thread, };

/**
 * Parameters of the notification `thread/name/updated`.
 */
export type ThreadNameUpdatedNotification = { threadId: string, 
/**
 * Absent if the thread has no name any more.
 */
threadName?: string, };

/**
 * Parameters of `thread/queue/add`.
 */
export type ThreadQueueAddParams = { threadId: string, 
/**
 * Must not be empty.
 */
input: Array<UserInput>, 
/**
 * The client's name for the message; need not be unique.
 */
clientUserMessageId: string, };

/**
 * Result of `thread/queue/add`.
 */
export type ThreadQueueAddResponse = { queuedSubmission: QueuedSubmission, };

/**
 * Parameters of the notification `thread/queue/changed`.
 */
export type ThreadQueueChangedNotification = { threadId: string, };

/**
 * Parameters of `thread/queue/delete`.
 */
export type ThreadQueueDeleteParams = { threadId: string, queuedSubmissionId: string, };

/**
 * Result of `thread/queue/delete`.
 */
export type ThreadQueueDeleteResponse = { 
/**
 * Whether there was such an entry.
 */
deleted: boolean, };

/**
 * Parameters of `thread/queue/list`.
 */
export type ThreadQueueListParams = { threadId: string, 
/**
 * The `nextCursor` of the page before; absent for the first.
 */
cursor?: string | null, 
/**
 * Entries per page; all if absent.
 */
limit?: number | null, };

/**
 * Result of `thread/queue/list`.
 */
export type ThreadQueueListResponse = { 
/**
 * The next to run first.
 */
data: Array<QueuedSubmission>, 
/**
 * Null on the last page.
 */
nextCursor: string | null, };

/**
 * Parameters of `thread/queue/reorder`.
 */
export type ThreadQueueReorderParams = { threadId: string, 
/**
 * All entries, in their new order.
 */
queuedSubmissionIds: Array<string>, };

/**
 * Result of `thread/queue/reorder`.
 */
export type ThreadQueueReorderResponse = Record<string, never>;

/**
 * Parameters of `thread/queue/start`.
 */
export type ThreadQueueStartParams = { threadId: string, 
/**
 * The entry to run now; the first one if absent.
 */
queuedSubmissionId?: string | null, };

/**
 * Result of `thread/queue/start`.
 */
export type ThreadQueueStartResponse = { turn: Turn, };

/**
 * Parameters of `thread/queue/update`.
 */
export type ThreadQueueUpdateParams = { threadId: string, queuedSubmissionId: string, 
/**
 * Must not be empty.
 */
input: Array<UserInput>, };

/**
 * Result of `thread/queue/update`.
 */
export type ThreadQueueUpdateResponse = { queuedSubmission: QueuedSubmission, };

/**
 * Parameters of `thread/read`.
 */
export type ThreadReadParams = { threadId: string, 
/**
 * Fills `turns`; not possible for ephemeral threads, nor before the first message.
 */
includeTurns?: boolean, };

/**
 * Result of `thread/read`.
 */
export type ThreadReadResponse = { thread: Thread, 
/**
 * What is read of it; null if it is not stored.
 */
readState?: ThreadReadState | null, };

/**
 * What the user has read of a thread.
 */
export type ThreadReadState = { 
/**
 * Null if all is read.
 */
firstUnread: ThreadUnreadPosition | null, 
/**
 * Changes with every turn and every update.
 */
revision: string, };

/**
 * Parameters of the notification `thread/readState/changed`.
 */
export type ThreadReadStateChangedNotification = { threadId: string, readState: ThreadReadState, };

/**
 * What a client says about a thread.
 */
export type ThreadReadStateOperation = { "type": "read" } | { "type": "unread" };

/**
 * Parameters of `thread/readState/update`.
 */
export type ThreadReadStateUpdateParams = { threadId: string, operation: ThreadReadStateOperation, 
/**
 * The revision that the user saw. If there is another one by now, nothing changes.
 */
expectedRevision: string, };

/**
 * Result of `thread/readState/update`.
 */
export type ThreadReadStateUpdateResponse = { readState: ThreadReadState, };

/**
 * Parameters of `thread/realtime/appendAudio`.
 */
export type ThreadRealtimeAppendAudioParams = { threadId: string, audio: ThreadRealtimeAudioChunk, };

/**
 * Result of `thread/realtime/appendAudio`.
 */
export type ThreadRealtimeAppendAudioResponse = Record<string, never>;

/**
 * Parameters of `thread/realtime/appendText`.
 */
export type ThreadRealtimeAppendTextParams = { threadId: string, text: string, };

/**
 * Result of `thread/realtime/appendText`.
 */
export type ThreadRealtimeAppendTextResponse = Record<string, never>;

/**
 * A piece of sound.
 */
export type ThreadRealtimeAudioChunk = { 
/**
 * PCM samples, in base64.
 */
data: string, 
/**
 * Samples per second, usually 24000.
 */
sampleRate: number, numChannels: number, samplesPerChannel?: number | null, 
/**
 * The provider's item that it is part of.
 */
itemId?: string | null, };

/**
 * Parameters of the notification `thread/realtime/closed`.
 */
export type ThreadRealtimeClosedNotification = { threadId: string, 
/**
 * `requested`, `transport_closed` or `error`.
 */
reason: string | null, };

/**
 * Parameters of the notification `thread/realtime/error`.
 */
export type ThreadRealtimeErrorNotification = { threadId: string, message: string, };

/**
 * Parameters of the notification `thread/realtime/itemAdded`.
 */
export type ThreadRealtimeItemAddedNotification = { threadId: string, 
/**
 * Something from the provider that has no notification of its own, as received.
 */
item: JsonValue, };

/**
 * Parameters of the notification `thread/realtime/outputAudio/delta`.
 */
export type ThreadRealtimeOutputAudioDeltaNotification = { threadId: string, audio: ThreadRealtimeAudioChunk, };

/**
 * Parameters of `thread/realtime/start`.
 */
export type ThreadRealtimeStartParams = { threadId: string, 
/**
 * What the voice model is asked to be and do.
 */
prompt: string, 
/**
 * The name of the session at the provider; the thread's id if absent.
 */
sessionId?: string | null, };

/**
 * Result of `thread/realtime/start`.
 */
export type ThreadRealtimeStartResponse = Record<string, never>;

/**
 * Parameters of the notification `thread/realtime/started`.
 */
export type ThreadRealtimeStartedNotification = { threadId: string, sessionId: string | null, version: RealtimeConversationVersion, };

/**
 * Parameters of `thread/realtime/stop`.
 */
export type ThreadRealtimeStopParams = { threadId: string, };

/**
 * Result of `thread/realtime/stop`.
 */
export type ThreadRealtimeStopResponse = Record<string, never>;

/**
 * Parameters of the notification `thread/realtime/transcriptUpdated`.
 */
export type ThreadRealtimeTranscriptUpdatedNotification = { threadId: string, 
/**
 * Who speaks: `user` or `assistant`.
 */
role: string, 
/**
 * What was said since the last one.
 */
text: string, };

/**
 * Parameters of `thread/resume`. If the thread is loaded, the caller joins it as it is and
 * settings are ignored.
 */
export type ThreadResumeParams = { 
/**
 * Always needed, though `history` and `path` win over it.
 */
threadId: string, 
/**
 * A history to begin a new thread with; must not be empty.
 */
history?: Array<ResponseItem> | null, 
/**
 * The rollout file to load; the thread's id is the one in the file.
 */
path?: string | null, 
/**
 * The model's name, which is not checked; the one last used in the thread if absent.
 */
model?: string | null, 
/**
 * A key of `model_providers`. This or `model` drops both model and effort last used.
 */
modelProvider?: string | null, 
/**
 * If absent, the configured one; null asks for none.
 */
serviceTier?: ServiceTier | null, 
/**
 * The working directory; the one of the thread if absent.
 */
cwd?: string | null, 
/**
 * If absent, the configured one.
 */
approvalPolicy?: AskForApproval | null, 
/**
 * If absent, the configured one.
 */
approvalsReviewer?: ApprovalsReviewer | null, 
/**
 * If absent, the configured one.
 */
sandbox?: SandboxMode | null, 
/**
 * The id of a permission profile, in place of `sandbox`: `:read-only`, `:workspace`,
 * `:danger-full-access`, or a table of `[permissions]` in the configuration.
 */
permissions?: string | null, 
/**
 * The directories that `workspaceWrite` is about; they must include the working directory.
 */
runtimeWorkspaceRoots?: Array<AbsolutePathBuf> | null, 
/**
 * Settings for this thread by dotted key, as in `config.toml`; other parameters win.
 */
config?: { [key in string]?: JsonValue } | null, 
/**
 * Takes the place of the instructions that the thread was started with.
 */
baseInstructions?: string | null, 
/**
 * Given to the model besides its own instructions.
 */
developerInstructions?: string | null, personality?: Personality | null, 
/**
 * Asks to store commands, patches, tool calls and errors as well, which Quipu always does.
 */
persistExtendedHistory?: boolean, 
/**
 * Leaves `turns` of the answer empty, for clients that read them with `thread/turns/list`.
 */
excludeTurns?: boolean, 
/**
 * Where a client with numbered events left off.
 */
quipu?: QuipuResume, };

/**
 * Result of `thread/resume`.
 */
export type ThreadResumeResponse = { 
/**
 * The thread with its turns, a running one included.
 */
thread: Thread, model: string, modelProvider: string, 
/**
 * Null if none is asked for.
 */
serviceTier: ServiceTier | null, cwd: string, 
/**
 * The directories that `workspaceWrite` is about: the working directory, and those that the client added.
 */
runtimeWorkspaceRoots?: Array<AbsolutePathBuf>, 
/**
 * The permission profile that was chosen; null if none was.
 */
activePermissionProfile?: ActivePermissionProfile | null, approvalPolicy: AskForApproval, approvalsReviewer: ApprovalsReviewer, sandbox: SandboxPolicy, 
/**
 * Null leaves it to the model.
 */
reasoningEffort: ReasoningEffort | null, 
/**
 * Where the numbered events of the thread are, for clients that asked for them.
 */
quipu?: ThreadEvents, };

/**
 * Parameters of `thread/revert`.
 */
export type ThreadRevertParams = { threadId: string, 
/**
 * The first turn that is taken back, with all after it; files stay as they are.
 */
beforeTurnId: string, };

/**
 * Result of `thread/revert`.
 */
export type ThreadRevertResponse = { 
/**
 * Without turns.
 */
thread: Thread, 
/**
 * A cursor for `thread/turns/list` that begins with the last turn left; null if there is none.
 */
turnsBackwardsCursor: string | null, 
/**
 * A cursor for `thread/items/list` that begins with the last item left; null if there is none.
 */
itemsBackwardsCursor: string | null, };

/**
 * Parameters of the notification `thread/reverted`.
 */
export type ThreadRevertedNotification = { threadId: string, };

/**
 * Parameters of `thread/rollback`.
 */
export type ThreadRollbackParams = { threadId: string, 
/**
 * How many of the last turns to drop, at least 1; files stay as they are.
 */
numTurns: number, };

/**
 * Result of `thread/rollback`.
 */
export type ThreadRollbackResponse = { 
/**
 * With the turns that are left.
 */
thread: Thread, };

/**
 * Parameters of `thread/sample/cancel`.
 */
export type ThreadSampleCancelParams = { 
/**
 * The `id` of a `thread/sample` of the same connection.
 */
requestId: RequestId, };

/**
 * Result of `thread/sample/cancel`.
 */
export type ThreadSampleCancelResponse = Record<string, never>;

/**
 * Parameters of `thread/sample`.
 */
export type ThreadSampleParams = { threadId: string, 
/**
 * The last turn of the thread, which must have ended.
 */
expectedTurnId: string, 
/**
 * The question: at most 4,000 bytes, and not only blanks.
 */
prompt: string, 
/**
 * Takes the place of the thread's effort, if the model reasons.
 */
effort?: ReasoningEffort | null, };

/**
 * Result of `thread/sample`.
 */
export type ThreadSampleResponse = { sourceTurnId: string, 
/**
 * The provider's id of the answer.
 */
responseId: string, 
/**
 * Null if the model called a tool, which is not run, or said nothing.
 */
text: string | null, 
/**
 * Null if the provider does not say; so for those below.
 */
inputTokens: number | null, cachedInputTokens: number | null, outputTokens: number | null, };

/**
 * One match in a thread.
 */
export type ThreadSearchOccurrence = { turnId: string, itemId: string, 
/**
 * The text around the match.
 */
snippet: string, 
/**
 * Where the match is in `snippet`.
 */
snippetMatchRange: ThreadSearchTextRange, 
/**
 * A cursor for `thread/turns/list` whose page begins with the turn.
 */
turnCursor: string, };

/**
 * Parameters of `thread/searchOccurrences`.
 */
export type ThreadSearchOccurrencesParams = { threadId: string, 
/**
 * What messages of the user or the agent must have in them; case does not count. Must not be empty.
 */
searchTerm: string, 
/**
 * The `nextCursor` of the page before; absent for the first.
 */
cursor?: string | null, 
/**
 * Matches per page, from 1 to 100; 25 if absent.
 */
limit?: number | null, };

/**
 * Result of `thread/searchOccurrences`.
 */
export type ThreadSearchOccurrencesResponse = { data: Array<ThreadSearchOccurrence>, 
/**
 * Null on the last page.
 */
nextCursor: string | null, };

/**
 * Parameters of `thread/search`.
 */
export type ThreadSearchParams = { 
/**
 * The `nextCursor` of the page before; absent for the first.
 */
cursor?: string | null, 
/**
 * Threads per page, from 1 to 100; 25 if absent.
 */
limit?: number | null, 
/**
 * `created_at` if absent.
 */
sortKey?: ThreadSearchSortKey | null, 
/**
 * `desc` if absent.
 */
sortDirection?: SortDirection | null, 
/**
 * If absent or empty, only threads that a user started: `cli` and `vscode`.
 */
sourceKinds?: Array<ThreadSourceKind> | null, 
/**
 * Whether to search only archived threads, or only the others; `false` if absent.
 */
archived?: boolean | null, 
/**
 * What messages of the user or the agent must have in them; case does not count. Must not be empty.
 */
searchTerm: string, };

/**
 * Result of `thread/search`.
 */
export type ThreadSearchResponse = { data: Array<ThreadSearchResult>, 
/**
 * Null on the last page.
 */
nextCursor: string | null, 
/**
 * Always null: a search goes one way.
 */
backwardsCursor: string | null, };

/**
 * A thread in which a text was found.
 */
export type ThreadSearchResult = { 
/**
 * Without turns.
 */
thread: Thread, 
/**
 * The text around the first match.
 */
snippet: string, };

/**
 * What found threads are sorted by.
 */
export type ThreadSearchSortKey = "created_at" | "updated_at" | "recency_at";

/**
 * A range of characters, as UTF-16 counts them.
 */
export type ThreadSearchTextRange = { start: number, end: number, };

/**
 * A group of threads.
 */
export type ThreadSection = { 
/**
 * Stays the same when the section is renamed.
 */
id: string, name: string, appearance: ThreadSectionAppearance | null, };

/**
 * How clients show a section.
 */
export type ThreadSectionAppearance = { icon?: string | null, color?: string | null, };

/**
 * Parameters of `threadSection/create`.
 */
export type ThreadSectionCreateParams = { 
/**
 * Must not be empty; need not be unique.
 */
name: string, appearance?: ThreadSectionAppearance | null, };

/**
 * Result of `threadSection/create`.
 */
export type ThreadSectionCreateResponse = { section: ThreadSection, };

/**
 * Parameters of `threadSection/delete`. Its threads are in no section then.
 */
export type ThreadSectionDeleteParams = { sectionId: string, };

/**
 * Result of `threadSection/delete`.
 */
export type ThreadSectionDeleteResponse = Record<string, never>;

/**
 * Parameters of `threadSection/list`.
 */
export type ThreadSectionListParams = { 
/**
 * The `nextCursor` of the page before; absent for the first.
 */
cursor?: string | null, 
/**
 * Sections per page, from 1 to 100; 25 if absent.
 */
limit?: number | null, };

/**
 * Result of `threadSection/list`.
 */
export type ThreadSectionListResponse = { 
/**
 * The built-in section `Pinned` first, then the oldest.
 */
data: Array<ThreadSection>, 
/**
 * Null on the last page.
 */
nextCursor: string | null, };

/**
 * Parameters of `thread/section/move`.
 */
export type ThreadSectionMoveParams = { threadId: string, 
/**
 * Required; null takes the thread out of its section.
 */
sectionId?: string | null, 
/**
 * The thread of the section to put it before; the end if absent.
 */
beforeThreadId?: string | null, };

/**
 * Result of `thread/section/move`.
 */
export type ThreadSectionMoveResponse = Record<string, never>;

/**
 * Parameters of `threadSection/update`.
 */
export type ThreadSectionUpdateParams = { sectionId: string, 
/**
 * Must not be empty.
 */
name: string, 
/**
 * Stays as it is if absent; null removes it.
 */
appearance?: ThreadSectionAppearance | null, };

/**
 * Result of `threadSection/update`.
 */
export type ThreadSectionUpdateResponse = { section: ThreadSection, };

/**
 * Parameters of `thread/name/set`.
 */
export type ThreadSetNameParams = { threadId: string, 
/**
 * Trimmed; must not be empty, need not be unique.
 */
name: string, };

/**
 * Result of `thread/name/set`.
 */
export type ThreadSetNameResponse = Record<string, never>;

/**
 * The settings of a thread.
 */
export type ThreadSettings = { 
/**
 * Always empty: plugins cannot be disabled for one thread.
 */
disabledPluginIds: Array<string>, cwd: string, approvalPolicy: AskForApproval, approvalsReviewer: ApprovalsReviewer, sandboxPolicy: SandboxPolicy, 
/**
 * Null if none was chosen.
 */
activePermissionProfile: ActivePermissionProfile | null, model: string, modelProvider: string, 
/**
 * Null if none is asked for.
 */
serviceTier: ServiceTier | null, 
/**
 * Null leaves it to the model.
 */
effort: ReasoningEffort | null, 
/**
 * Null leaves it to the model.
 */
summary: ReasoningSummary | null, collaborationMode: CollaborationMode, 
/**
 * Always `explicitRequestOnly`.
 */
multiAgentMode: MultiAgentMode, 
/**
 * Null if personalities are switched off.
 */
personality: Personality | null, };

/**
 * Parameters of `thread/settings/update`. What is absent stays as it is.
 */
export type ThreadSettingsUpdateParams = { threadId: string, 
/**
 * Plugins that must not be used. Only an empty list is accepted.
 */
disabledPluginIds?: Array<string> | null, 
/**
 * The working directory, relative to the server's own.
 */
cwd?: string | null, approvalPolicy?: AskForApproval | null, approvalsReviewer?: ApprovalsReviewer | null, sandboxPolicy?: SandboxPolicy | null, 
/**
 * The id of a permission profile, in place of `sandboxPolicy`.
 */
permissions?: string | null, 
/**
 * The model's name, which is not checked.
 */
model?: string | null, 
/**
 * Null asks for none.
 */
serviceTier?: ServiceTier | null, effort?: ReasoningEffort | null, summary?: ReasoningSummary | null, 
/**
 * Its settings win over `model` and `effort`.
 */
collaborationMode?: CollaborationMode | null, personality?: Personality | null, };

/**
 * Result of `thread/settings/update`.
 */
export type ThreadSettingsUpdateResponse = Record<string, never>;

/**
 * Parameters of the notification `thread/settings/updated`.
 */
export type ThreadSettingsUpdatedNotification = { threadId: string, 
/**
 * All settings as they are now.
 */
threadSettings: ThreadSettings, };

/**
 * Parameters of `thread/shellCommand`.
 */
export type ThreadShellCommandParams = { threadId: string, 
/**
 * A line for the user's shell, run without sandbox and approval for at most an hour.
 */
command: string, };

/**
 * Result of `thread/shellCommand`.
 */
export type ThreadShellCommandResponse = Record<string, never>;

/**
 * What a list of threads is sorted by, the newest first.
 */
export type ThreadSortKey = "created_at" | "updated_at" | "recency_at" | "section_position";

/**
 * What started a thread, to filter by.
 */
export type ThreadSourceKind = "cli" | "vscode" | "exec" | "appServer" | "subAgent" | "subAgentReview" | "subAgentCompact" | "subAgentThreadSpawn" | "subAgentOther" | "unknown";

/**
 * Parameters of `thread/start`.
 */
export type ThreadStartParams = { 
/**
 * The model's name, which is not checked; the configured one if absent.
 */
model?: string | null, 
/**
 * A key of `model_providers` in the configuration.
 */
modelProvider?: string | null, 
/**
 * If absent, the configured one; null asks for none.
 */
serviceTier?: ServiceTier | null, 
/**
 * The working directory, relative to the server's own, which is also the default.
 */
cwd?: string | null, 
/**
 * If absent, the configured one.
 */
approvalPolicy?: AskForApproval | null, 
/**
 * If absent, the configured one.
 */
approvalsReviewer?: ApprovalsReviewer | null, 
/**
 * If absent, the configured one.
 */
sandbox?: SandboxMode | null, 
/**
 * The id of a permission profile, in place of `sandbox`: `:read-only`, `:workspace`,
 * `:danger-full-access`, or a table of `[permissions]` in the configuration.
 */
permissions?: string | null, 
/**
 * The directories that `workspaceWrite` is about; they must include the working directory.
 */
runtimeWorkspaceRoots?: Array<AbsolutePathBuf> | null, 
/**
 * Where commands run. An empty list denies the model all access to files and commands.
 */
environments?: Array<TurnEnvironmentParams> | null, 
/**
 * Settings for this thread by dotted key, as in `config.toml`; other parameters win.
 */
config?: { [key in string]?: JsonValue } | null, 
/**
 * A label for metrics.
 */
serviceName?: string | null, 
/**
 * Takes the place of the model's own instructions.
 */
baseInstructions?: string | null, 
/**
 * Given to the model besides its own instructions.
 */
developerInstructions?: string | null, personality?: Personality | null, 
/**
 * Keeps the thread in memory only; `false` if nothing is configured.
 */
ephemeral?: boolean | null, 
/**
 * Tools that the client brings; stored with the thread. Since 0.166 an entry may also be a namespace, which groups
 * tools: `{"type": "namespace", "name", "description", "tools"}`.
 */
dynamicTools?: Array<DynamicToolSpec> | null, 
/**
 * Without effect; for tests of the experimental gate.
 */
mockExperimentalField?: string | null, 
/**
 * Also sends the items of the model's history, as `rawResponseItem/completed`.
 */
experimentalRawEvents?: boolean, 
/**
 * Asks to store commands, patches, tool calls and errors as well, which Quipu always does.
 */
persistExtendedHistory?: boolean, 
/**
 * Makes the request safe to repeat: sent again with the same key, it acts once and is answered the same.
 */
idempotencyKey?: string, };

/**
 * Result of `thread/start`.
 */
export type ThreadStartResponse = { 
/**
 * The new thread, without turns.
 */
thread: Thread, model: string, modelProvider: string, 
/**
 * Null if none is asked for.
 */
serviceTier: ServiceTier | null, cwd: string, 
/**
 * The directories that `workspaceWrite` is about: the working directory, and those that the client added.
 */
runtimeWorkspaceRoots?: Array<AbsolutePathBuf>, 
/**
 * The permission profile that was chosen; null if none was.
 */
activePermissionProfile?: ActivePermissionProfile | null, approvalPolicy: AskForApproval, approvalsReviewer: ApprovalsReviewer, sandbox: SandboxPolicy, 
/**
 * Null leaves it to the model.
 */
reasoningEffort: ReasoningEffort | null, 
/**
 * Where the numbered events of the thread are, for clients that asked for them.
 */
quipu?: ThreadEvents, };

/**
 * Parameters of the notification `thread/started`.
 */
export type ThreadStartedNotification = { 
/**
 * With turns after a fork only.
 */
thread: Thread, };

/**
 * What a thread is doing.
 */
export type ThreadStatus = { "type": "notLoaded" } | { "type": "idle" } | { "type": "systemError" } | { "type": "active", 
/**
 * Empty if it waits for nobody.
 */
activeFlags: Array<ThreadActiveFlag>, };

/**
 * Parameters of the notification `thread/status/changed`.
 */
export type ThreadStatusChangedNotification = { threadId: string, status: ThreadStatus, };

/**
 * Something in the history of a thread.
 */
export type ThreadTimelineEntry = { "type": "turnStarted", 
/**
 * Grows along the history.
 */
position: number, turnId: string, 
/**
 * Null: not stored.
 */
startedAt: number | null, } | { "type": "item", position: number, turnId: string, item: ThreadItem, } | { "type": "turnCompleted", position: number, turnId: string, status: TurnStatus, error: TurnError | null, 
/**
 * Null: not stored.
 */
startedAt: number | null, 
/**
 * Null: not stored.
 */
completedAt: number | null, 
/**
 * Null: not stored.
 */
durationMs: number | null, };

/**
 * Parameters of `thread/timeline/list`.
 */
export type ThreadTimelineListParams = { threadId: string, 
/**
 * The `nextCursor` of the page before; absent for the newest page.
 */
cursor?: string | null, 
/**
 * Entries per page, from 1 to 100; 25 if absent.
 */
limit?: number | null, };

/**
 * Result of `thread/timeline/list`.
 */
export type ThreadTimelineListResponse = { 
/**
 * The oldest first; the first page has the newest entries.
 */
data: Array<ThreadTimelineEntry>, 
/**
 * For the page with earlier entries; null on the last.
 */
nextCursor: string | null, 
/**
 * Always null: voice conversations are not part of the history.
 */
activeRealtimeSessionAtPageStart: string | null, };

/**
 * How many tokens a thread has used.
 */
export type ThreadTokenUsage = { 
/**
 * By all model requests of the thread, also before a resume.
 */
total: TokenUsageBreakdown, 
/**
 * By the last one. After a compaction or rollback: an estimate, in `totalTokens` only.
 */
last: TokenUsageBreakdown, 
/**
 * The tokens that the model can work with, a little below its full window; null if unknown.
 */
modelContextWindow: number | null, 
/**
 * What the answers of models cost, once one had a known price.
 */
cost?: TokenCost, };

/**
 * Parameters of the notification `thread/tokenUsage/updated`.
 */
export type ThreadTokenUsageUpdatedNotification = { threadId: string, 
/**
 * The turn in which the request was made.
 */
turnId: string, tokenUsage: ThreadTokenUsage, };

/**
 * Parameters of `thread/turns/list`.
 */
export type ThreadTurnsListParams = { threadId: string, 
/**
 * The `nextCursor` of the page before, or a `backwardsCursor` to go the other way; absent for the first page.
 */
cursor?: string | null, 
/**
 * Turns per page, from 1 to 100; 25 if absent.
 */
limit?: number | null, 
/**
 * `desc` if absent.
 */
sortDirection?: SortDirection | null, 
/**
 * `summary` if absent.
 */
itemsView?: TurnItemsView | null, };

/**
 * Result of `thread/turns/list`.
 */
export type ThreadTurnsListResponse = { data: Array<Turn>, 
/**
 * Null on the last page.
 */
nextCursor: string | null, 
/**
 * Where the page begins, for the other direction; that page begins with the same turn. Null if the page is empty.
 */
backwardsCursor: string | null, };

/**
 * Parameters of `thread/unarchive`.
 */
export type ThreadUnarchiveParams = { threadId: string, };

/**
 * Result of `thread/unarchive`.
 */
export type ThreadUnarchiveResponse = { 
/**
 * Without turns; it is not loaded.
 */
thread: Thread, };

/**
 * Parameters of the notification `thread/unarchived`.
 */
export type ThreadUnarchivedNotification = { threadId: string, };

/**
 * Where the unread part of a thread begins.
 */
export type ThreadUnreadPosition = { "type": "threadStart" } | { "type": "turn", turnId: string, };

/**
 * Parameters of `thread/unsubscribe`.
 */
export type ThreadUnsubscribeParams = { threadId: string, };

/**
 * Result of `thread/unsubscribe`.
 */
export type ThreadUnsubscribeResponse = { status: ThreadUnsubscribeStatus, };

/**
 * What became of a subscription.
 */
export type ThreadUnsubscribeStatus = "notLoaded" | "notSubscribed" | "unsubscribed";

/**
 * US dollars, of answers whose price is known.
 */
export type TokenCost = { 
/**
 * Of the last answer; null if its price is not known.
 */
last: number | null, 
/**
 * Of the running turn, or the last one.
 */
turn: number, 
/**
 * Of the whole thread, also before a resume.
 */
thread: number, };

/**
 * Numbers of tokens.
 */
export type TokenUsageBreakdown = { totalTokens: number, 
/**
 * What the model read, cached tokens included.
 */
inputTokens: number, 
/**
 * The part of the input that the provider had cached.
 */
cachedInputTokens: number, 
/**
 * What the model wrote, its thoughts included.
 */
outputTokens: number, 
/**
 * The part of the output that was thoughts.
 */
reasoningOutputTokens: number, };

/**
 * A tool of an MCP server.
 */
export type Tool = { 
/**
 * The name that the MCP server gave it.
 */
name: string, title?: string, description?: string, 
/**
 * A JSON Schema of its arguments.
 */
inputSchema: JsonValue, 
/**
 * A JSON Schema of its structured result.
 */
outputSchema?: JsonValue, 
/**
 * Hints of MCP, as received; they decide whether a call needs approval.
 */
annotations?: JsonValue, 
/**
 * As received.
 */
icons?: Array<JsonValue>, 
/**
 * As received.
 */
_meta?: JsonValue, };

/**
 * The answer to one question.
 */
export type ToolRequestUserInputAnswer = { 
/**
 * The labels that were picked and the text that was written.
 */
answers: Array<string>, };

/**
 * An answer that the user can pick.
 */
export type ToolRequestUserInputOption = { 
/**
 * The text to show, and to send back if picked.
 */
label: string, 
/**
 * What picking it means.
 */
description: string, };

/**
 * Parameters of the request `item/tool/requestUserInput`.
 */
export type ToolRequestUserInputParams = { threadId: string, turnId: string, 
/**
 * The id of the model's call; no item is announced for it.
 */
itemId: string, 
/**
 * Usually one to three.
 */
questions: Array<ToolRequestUserInputQuestion>, 
/**
 * Whether the turn waits for the answer; it always does.
 */
isBlocking?: boolean, };

/**
 * A question to the user.
 */
export type ToolRequestUserInputQuestion = { 
/**
 * The key under which the answer is given.
 */
id: string, 
/**
 * A title of a few words.
 */
header: string, question: string, 
/**
 * Whether the user may also write an answer of their own.
 */
isOther: boolean, 
/**
 * Whether the answer must not be shown while it is typed.
 */
isSecret: boolean, 
/**
 * The answers to offer; null asks for free text.
 */
options: Array<ToolRequestUserInputOption> | null, };

/**
 * Answer to the request `item/tool/requestUserInput`.
 */
export type ToolRequestUserInputResponse = { 
/**
 * The answers by the `id` of their question; questions left out count as unanswered.
 */
answers: { [key in string]?: ToolRequestUserInputAnswer }, };

/**
 * The table `[tools]`.
 */
export type ToolsV2 = { web_search: WebSearchToolConfig | null, 
/**
 * Whether the model may look at image files; `true` if null.
 */
view_image: boolean | null, };

/**
 * What the agent does about one input of the user.
 */
export type Turn = { id: string, 
/**
 * Filled when a history is read; empty in `turn/started` and `turn/completed`.
 */
items: Array<ThreadItem>, 
/**
 * Which items are there, in results of `thread/turns/list`.
 */
itemsView?: TurnItemsView, status: TurnStatus, 
/**
 * Set only if `failed`.
 */
error: TurnError | null, };

/**
 * Parameters of the notification `turn/completed`.
 */
export type TurnCompletedNotification = { threadId: string, 
/**
 * Without items; its `status` says how it ended.
 */
turn: Turn, };

/**
 * Parameters of the notification `turn/diff/updated`.
 */
export type TurnDiffUpdatedNotification = { threadId: string, turnId: string, 
/**
 * All that patches changed in this turn, as a Git diff; commands are not covered.
 */
diff: string, };

/**
 * A place where commands run.
 */
export type TurnEnvironmentParams = { 
/**
 * `local`, the machine of the server; there is no other.
 */
environmentId: string, 
/**
 * The working directory there, which must be absolute.
 */
cwd: string, 
/**
 * The directories that `workspaceWrite` is about; they must include the working directory.
 */
runtimeWorkspaceRoots?: Array<AbsolutePathBuf> | null, };

/**
 * What went wrong in a turn.
 */
export type TurnError = { 
/**
 * For people.
 */
message: string, 
/**
 * For programs; null if there is nothing to say.
 */
codexErrorInfo: CodexErrorInfo | null, 
/**
 * The underlying cause; set while the request is retried.
 */
additionalDetails: string | null, };

/**
 * Parameters of `turn/interrupt`.
 */
export type TurnInterruptParams = { threadId: string, turnId: string, };

/**
 * Result of `turn/interrupt`.
 */
export type TurnInterruptResponse = Record<string, never>;

/**
 * Which of a turn's items are there.
 */
export type TurnItemsView = "notLoaded" | "summary" | "full";

/**
 * A step of the model's plan.
 */
export type TurnPlanStep = { step: string, status: TurnPlanStepStatus, };

/**
 * How far a step has come.
 */
export type TurnPlanStepStatus = "pending" | "inProgress" | "completed";

/**
 * Parameters of the notification `turn/plan/updated`.
 */
export type TurnPlanUpdatedNotification = { threadId: string, turnId: string, 
/**
 * Why the plan changed.
 */
explanation: string | null, 
/**
 * All steps, which replace those of before.
 */
plan: Array<TurnPlanStep>, };

/**
 * Parameters of `turn/settings/update`. What is absent stays as it is.
 */
export type TurnSettingsUpdateParams = { threadId: string, 
/**
 * The running turn.
 */
turnId: string, 
/**
 * Who decides about approvals that are asked for from now on.
 */
approvalsReviewer?: ApprovalsReviewer | null, 
/**
 * The model's name, which is not checked.
 */
model?: string | null, effort?: ReasoningEffort | null, summary?: ReasoningSummary | null, 
/**
 * Null asks for none.
 */
serviceTier?: ServiceTier | null, };

/**
 * Result of `turn/settings/update`.
 */
export type TurnSettingsUpdateResponse = { status: TurnSettingsUpdateStatus, };

/**
 * Whether settings of a turn were changed.
 */
export type TurnSettingsUpdateStatus = "applied" | "targetUnavailable";

/**
 * Parameters of `turn/start`. Settings given here last for later turns too, but for
 * `outputSchema`.
 */
export type TurnStartParams = { threadId: string, 
/**
 * Must not be empty.
 */
input: Array<UserInput>, 
/**
 * The working directory, relative to the server's own.
 */
cwd?: string | null, approvalPolicy?: AskForApproval | null, approvalsReviewer?: ApprovalsReviewer | null, sandboxPolicy?: SandboxPolicy | null, 
/**
 * The id of a permission profile, in place of `sandboxPolicy`; see `thread/start`.
 */
permissions?: string | null, 
/**
 * The directories that `workspaceWrite` is about; they must include the working directory.
 */
runtimeWorkspaceRoots?: Array<AbsolutePathBuf> | null, 
/**
 * Where commands run. An empty list denies the model all access to files and commands.
 */
environments?: Array<TurnEnvironmentParams> | null, 
/**
 * Plugins that must not be used. Only an empty list is accepted.
 */
disabledPluginIds?: Array<string> | null, 
/**
 * The model's name, which is not checked.
 */
model?: string | null, 
/**
 * If absent, the tier stays; null asks for none.
 */
serviceTier?: ServiceTier | null, effort?: ReasoningEffort | null, summary?: ReasoningSummary | null, personality?: Personality | null, 
/**
 * A JSON Schema that the model's final message of this turn has to fit.
 */
outputSchema?: JsonValue | null, 
/**
 * Its settings win over `model` and `effort`.
 */
collaborationMode?: CollaborationMode | null, 
/**
 * Makes the request safe to repeat: sent again with the same key, it acts once and is answered the same.
 */
idempotencyKey?: string, };

/**
 * Result of `turn/start`.
 */
export type TurnStartResponse = { 
/**
 * The new turn; if one is running, that one, which takes the input.
 */
turn: Turn, };

/**
 * Parameters of the notification `turn/started`.
 */
export type TurnStartedNotification = { threadId: string, 
/**
 * Without items.
 */
turn: Turn, };

/**
 * How far a turn has come.
 */
export type TurnStatus = "completed" | "interrupted" | "failed" | "inProgress";

/**
 * Parameters of `turn/steer`.
 */
export type TurnSteerParams = { threadId: string, 
/**
 * Must not be empty; it goes to the model with the turn's next request.
 */
input: Array<UserInput>, 
/**
 * The turn that the client believes to be running; if it is another, the request fails.
 */
expectedTurnId: string, 
/**
 * Makes the request safe to repeat: sent again with the same key, it acts once and is answered the same.
 */
idempotencyKey?: string, };

/**
 * Result of `turn/steer`.
 */
export type TurnSteerResponse = { turnId: string, };

/**
 * One piece of what the user says.
 */
export type UserInput = { "type": "text", text: string, 
/**
 * Parts that the client shows in its own way; kept and given back, nothing more.
 */
text_elements?: Array<TextElement>, } | { "type": "image", 
/**
 * An `http`, `https` or `data` URL.
 */
url: string, } | { "type": "localImage", path: string, } | { "type": "skill", name: string, 
/**
 * The path of its `SKILL.md`.
 */
path: string, } | { "type": "mention", name: string, 
/**
 * `app://<id>` or `plugin://<name>@<marketplace>`.
 */
path: string, };

/**
 * How much the model should write.
 */
export type Verbosity = "low" | "medium" | "high";

/**
 * Parameters of the notification `warning`.
 */
export type WarningNotification = { 
/**
 * The thread that it is about, if it is about one.
 */
threadId: string | null, 
/**
 * What the user should know.
 */
message: string, };

/**
 * What the model did on the web.
 */
export type WebSearchAction = { "type": "search", query: string | null, 
/**
 * All queries, if it made several.
 */
queries: Array<string> | null, } | { "type": "openPage", url: string | null, } | { "type": "findInPage", url: string | null, pattern: string | null, } | { "type": "other" };

/**
 * How much of what a search finds the model gets to read.
 */
export type WebSearchContextSize = "low" | "medium" | "high";

/**
 * Roughly where the user is, so that searches fit.
 */
export type WebSearchLocation = { country: string | null, region: string | null, city: string | null, timezone: string | null, };

/**
 * How the model can search the web.
 */
export type WebSearchMode = "disabled" | "cached" | "live";

/**
 * The table `[tools.web_search]`.
 */
export type WebSearchToolConfig = { context_size: WebSearchContextSize | null, 
/**
 * The only domains to search; all if null.
 */
allowed_domains: Array<string> | null, location: WebSearchLocation | null, };

/**
 * Whether the sandbox on Windows can be used.
 */
export type WindowsSandboxReadiness = "ready" | "notConfigured" | "updateRequired";

/**
 * Result of `windowsSandbox/readiness`.
 */
export type WindowsSandboxReadinessResponse = { 
/**
 * Always `notConfigured`.
 */
status: WindowsSandboxReadiness, };

/**
 * Parameters of the notification `windowsSandbox/setupCompleted`.
 */
export type WindowsSandboxSetupCompletedNotification = { mode: WindowsSandboxSetupMode, success: boolean, 
/**
 * Why it failed; null on success.
 */
error: string | null, };

/**
 * With which rights the sandbox is set up.
 */
export type WindowsSandboxSetupMode = "elevated" | "unelevated";

/**
 * Parameters of `windowsSandbox/setupStart`.
 */
export type WindowsSandboxSetupStartParams = { mode: WindowsSandboxSetupMode, 
/**
 * The workspace to set it up for.
 */
cwd?: AbsolutePathBuf | null, };

/**
 * Result of `windowsSandbox/setupStart`.
 */
export type WindowsSandboxSetupStartResponse = { 
/**
 * True; `windowsSandbox/setupCompleted` reports how it went.
 */
started: boolean, };

/**
 * Parameters of the notification `windows/worldWritableWarning`: everybody can write to some
 * directories, which the sandbox cannot protect.
 */
export type WindowsWorldWritableWarningNotification = { 
/**
 * Some of them.
 */
samplePaths: Array<string>, 
/**
 * How many there are besides.
 */
extraCount: number, 
/**
 * Whether the search for them did not get to its end.
 */
failedScan: boolean, };

/**
 * Whether a written value takes effect.
 */
export type WriteStatus = "ok" | "okOverridden";

/**
 * The requests of a client, by method.
 */
export interface ClientRequests {
  /** Opens the connection: who the client is, what it can do. */
  "initialize": { params: InitializeParams; result: InitializeResponse };
  /** Starts a new thread and subscribes the connection to its events. */
  "thread/start": { params: ThreadStartParams; result: ThreadStartResponse };
  /** Loads a stored thread, or joins a running one, and subscribes to it. */
  "thread/resume": { params: ThreadResumeParams; result: ThreadResumeResponse };
  /** Copies a thread's history into a new thread. */
  "thread/fork": { params: ThreadForkParams; result: ThreadForkResponse };
  /** Moves a thread out of the ordinary lists. */
  "thread/archive": { params: ThreadArchiveParams; result: ThreadArchiveResponse };
  /** Removes a thread for good. */
  "thread/delete": { params: ThreadDeleteParams; result: ThreadDeleteResponse };
  /** Stops sending a thread's events to this connection; the last one unloads it. */
  "thread/unsubscribe": { params: ThreadUnsubscribeParams; result: ThreadUnsubscribeResponse };
  /** Counts one more question being shown outside the protocol, which pauses time limits. Experimental. */
  "thread/increment_elicitation": { params: ThreadIncrementElicitationParams; result: ThreadIncrementElicitationResponse };
  /** Counts one question less. Experimental. */
  "thread/decrement_elicitation": { params: ThreadDecrementElicitationParams; result: ThreadDecrementElicitationResponse };
  /** Gives a thread a name. */
  "thread/name/set": { params: ThreadSetNameParams; result: ThreadSetNameResponse };
  /** Changes the git facts stored with a thread. */
  "thread/metadata/update": { params: ThreadMetadataUpdateParams; result: ThreadMetadataUpdateResponse };
  /** Moves an archived thread back. */
  "thread/unarchive": { params: ThreadUnarchiveParams; result: ThreadUnarchiveResponse };
  /** Summarises a thread's history to free context. */
  "thread/compact/start": { params: ThreadCompactStartParams; result: ThreadCompactStartResponse };
  /** Runs a shell command of the user in the thread, outside the sandbox. */
  "thread/shellCommand": { params: ThreadShellCommandParams; result: ThreadShellCommandResponse };
  /** Ends the thread's background terminals. Experimental. */
  "thread/backgroundTerminals/clean": { params: ThreadBackgroundTerminalsCleanParams; result: ThreadBackgroundTerminalsCleanResponse };
  /** Lists the thread's background terminals. Experimental. */
  "thread/backgroundTerminals/list": { params: ThreadBackgroundTerminalsListParams; result: ThreadBackgroundTerminalsListResponse };
  /** Ends one of the thread's background terminals. Experimental. */
  "thread/backgroundTerminals/terminate": { params: ThreadBackgroundTerminalsTerminateParams; result: ThreadBackgroundTerminalsTerminateResponse };
  /** Drops the last turns of a thread from its history. */
  "thread/rollback": { params: ThreadRollbackParams; result: ThreadRollbackResponse };
  /** Drops a turn and all after it from a thread's history. */
  "thread/revert": { params: ThreadRevertParams; result: ThreadRevertResponse };
  /** Adds items to the model's history that clients do not see. */
  "thread/inject_items": { params: ThreadInjectItemsParams; result: ThreadInjectItemsResponse };
  /** Changes the settings of later turns. Experimental. */
  "thread/settings/update": { params: ThreadSettingsUpdateParams; result: ThreadSettingsUpdateResponse };
  /** Asks the model something beside the thread, after its last turn; nothing of it is stored. Experimental. */
  "thread/sample": { params: ThreadSampleParams; result: ThreadSampleResponse };
  /** Cancels a `thread/sample` of this connection, which is then answered with an error. Experimental. */
  "thread/sample/cancel": { params: ThreadSampleCancelParams; result: ThreadSampleCancelResponse };
  /** Marks a thread as read or unread. Experimental. */
  "thread/readState/update": { params: ThreadReadStateUpdateParams; result: ThreadReadStateUpdateResponse };
  /** Sets or changes the goal that the server pursues by itself. */
  "thread/goal/set": { params: ThreadGoalSetParams; result: ThreadGoalSetResponse };
  /** Reads the goal of a thread. */
  "thread/goal/get": { params: ThreadGoalGetParams; result: ThreadGoalGetResponse };
  /** Removes the goal of a thread. */
  "thread/goal/clear": { params: ThreadGoalClearParams; result: ThreadGoalClearResponse };
  /** Adds input that runs when the thread is idle. Experimental. */
  "thread/queue/add": { params: ThreadQueueAddParams; result: ThreadQueueAddResponse };
  /** Lists the input that waits for the thread. Experimental. */
  "thread/queue/list": { params: ThreadQueueListParams; result: ThreadQueueListResponse };
  /** Changes input that waits for the thread. Experimental. */
  "thread/queue/update": { params: ThreadQueueUpdateParams; result: ThreadQueueUpdateResponse };
  /** Removes input that waits for the thread. Experimental. */
  "thread/queue/delete": { params: ThreadQueueDeleteParams; result: ThreadQueueDeleteResponse };
  /** Changes the order of the input that waits. Experimental. */
  "thread/queue/reorder": { params: ThreadQueueReorderParams; result: ThreadQueueReorderResponse };
  /** Runs waiting input now. Experimental. */
  "thread/queue/start": { params: ThreadQueueStartParams; result: ThreadQueueStartResponse };
  /** Lists stored threads, a page at a time. */
  "thread/list": { params: ThreadListParams; result: ThreadListResponse };
  /** Lists the sections that threads are grouped in, a page at a time. */
  "threadSection/list": { params: ThreadSectionListParams; result: ThreadSectionListResponse };
  /** Makes a section. */
  "threadSection/create": { params: ThreadSectionCreateParams; result: ThreadSectionCreateResponse };
  /** Renames a section, or changes how it is shown. */
  "threadSection/update": { params: ThreadSectionUpdateParams; result: ThreadSectionUpdateResponse };
  /** Removes a section; its threads stay. */
  "threadSection/delete": { params: ThreadSectionDeleteParams; result: ThreadSectionDeleteResponse };
  /** Moves a thread into a section, within it, or out of it. */
  "thread/section/move": { params: ThreadSectionMoveParams; result: ThreadSectionMoveResponse };
  /** Stores something with a thread. */
  "thread/attachment/add": { params: ThreadAttachmentAddParams; result: ThreadAttachmentAddResponse };
  /** Lists what clients stored with a thread, a page at a time. */
  "thread/attachment/list": { params: ThreadAttachmentListParams; result: ThreadAttachmentListResponse };
  /** Removes what a client stored with a thread. */
  "thread/attachment/remove": { params: ThreadAttachmentRemoveParams; result: ThreadAttachmentRemoveResponse };
  /** Lists the threads that something is stored with, a page at a time. */
  "thread/attachmentOwner/list": { params: ThreadAttachmentOwnerListParams; result: ThreadAttachmentOwnerListResponse };
  /** Lists the threads in memory. */
  "thread/loaded/list": { params: ThreadLoadedListParams; result: ThreadLoadedListResponse };
  /** Reads a stored thread without loading it. */
  "thread/read": { params: ThreadReadParams; result: ThreadReadResponse };
  /** Lists the turns of a thread, a page at a time. */
  "thread/turns/list": { params: ThreadTurnsListParams; result: ThreadTurnsListResponse };
  /** Lists the items of a thread, a page at a time. */
  "thread/items/list": { params: ThreadItemsListParams; result: ThreadItemsListResponse };
  /** Reads some items of a turn. Experimental. */
  "thread/items/read": { params: ThreadItemsReadParams; result: ThreadItemsReadResponse };
  /** Lists turns and items of a thread in one sequence, a page at a time, the newest page first. Experimental. */
  "thread/timeline/list": { params: ThreadTimelineListParams; result: ThreadTimelineListResponse };
  /** Finds threads by a text in their messages. Experimental. */
  "thread/search": { params: ThreadSearchParams; result: ThreadSearchResponse };
  /** Finds a text in the messages of a thread. Experimental. */
  "thread/searchOccurrences": { params: ThreadSearchOccurrencesParams; result: ThreadSearchOccurrencesResponse };
  /** Lists the permission profiles that can be chosen. */
  "permissionProfile/list": { params: PermissionProfileListParams; result: PermissionProfileListResponse };
  /** Lists the skills that apply to some directories. */
  "skills/list": { params: SkillsListParams; result: SkillsListResponse };
  /** Sets more directories in which skills are found. */
  "skills/extraRoots/set": { params: SkillsExtraRootsSetParams; result: SkillsExtraRootsSetResponse };
  /** Lists the hooks that are in force. */
  "hooks/list": { params: HooksListParams; result: HooksListResponse };
  /** Lists the plugins of the known marketplaces. */
  "plugin/list": { params: PluginListParams; result: PluginListResponse };
  /** Shows one plugin in full. */
  "plugin/read": { params: PluginReadParams; result: PluginReadResponse };
  /** Lists the installed plugins. */
  "plugin/installed": { params: PluginInstalledParams; result: PluginInstalledResponse };
  /** Searches the plugins that marketplaces of this machine offer. Experimental. */
  "plugin/search": { params: PluginSearchParams; result: PluginSearchResponse };
  /** Lists apps, a page at a time. */
  "app/list": { params: AppsListParams; result: AppsListResponse };
  /** Reads a file. */
  "fs/readFile": { params: FsReadFileParams; result: FsReadFileResponse };
  /** Writes a file, whole or not at all. */
  "fs/writeFile": { params: FsWriteFileParams; result: FsWriteFileResponse };
  /** Makes a directory. */
  "fs/createDirectory": { params: FsCreateDirectoryParams; result: FsCreateDirectoryResponse };
  /** Returns what a path is and when it changed. */
  "fs/getMetadata": { params: FsGetMetadataParams; result: FsGetMetadataResponse };
  /** Lists a directory. */
  "fs/readDirectory": { params: FsReadDirectoryParams; result: FsReadDirectoryResponse };
  /** Removes a file or a tree. */
  "fs/remove": { params: FsRemoveParams; result: FsRemoveResponse };
  /** Copies a file or a tree. */
  "fs/copy": { params: FsCopyParams; result: FsCopyResponse };
  /** Starts notifying the connection of changes below a path. */
  "fs/watch": { params: FsWatchParams; result: FsWatchResponse };
  /** Ends a watch. */
  "fs/unwatch": { params: FsUnwatchParams; result: FsUnwatchResponse };
  /** Turns a skill on or off. */
  "skills/config/write": { params: SkillsConfigWriteParams; result: SkillsConfigWriteResponse };
  /** Installs a plugin. */
  "plugin/install": { params: PluginInstallParams; result: PluginInstallResponse };
  /** Removes a plugin. */
  "plugin/uninstall": { params: PluginUninstallParams; result: PluginUninstallResponse };
  /** Adds a marketplace of plugins to the user's settings. */
  "marketplace/add": { params: MarketplaceAddParams; result: MarketplaceAddResponse };
  /** Removes a marketplace that was added. */
  "marketplace/remove": { params: MarketplaceRemoveParams; result: MarketplaceRemoveResponse };
  /** Fetches the marketplaces again that come from repositories. */
  "marketplace/upgrade": { params: MarketplaceUpgradeParams; result: MarketplaceUpgradeResponse };
  /** Gives a thread input and begins a turn. */
  "turn/start": { params: TurnStartParams; result: TurnStartResponse };
  /** Adds input to the running turn. */
  "turn/steer": { params: TurnSteerParams; result: TurnSteerResponse };
  /** Changes settings of the running turn alone, from its next request to the model on. Experimental. */
  "turn/settings/update": { params: TurnSettingsUpdateParams; result: TurnSettingsUpdateResponse };
  /** Ends the running turn early. */
  "turn/interrupt": { params: TurnInterruptParams; result: TurnInterruptResponse };
  /** Opens a voice session in a thread. Experimental. */
  "thread/realtime/start": { params: ThreadRealtimeStartParams; result: ThreadRealtimeStartResponse };
  /** Sends sound to the voice session. Experimental. */
  "thread/realtime/appendAudio": { params: ThreadRealtimeAppendAudioParams; result: ThreadRealtimeAppendAudioResponse };
  /** Sends text to the voice session. Experimental. */
  "thread/realtime/appendText": { params: ThreadRealtimeAppendTextParams; result: ThreadRealtimeAppendTextResponse };
  /** Ends the voice session. Experimental. */
  "thread/realtime/stop": { params: ThreadRealtimeStopParams; result: ThreadRealtimeStopResponse };
  /** Begins a code review, in the thread or beside it. */
  "review/start": { params: ReviewStartParams; result: ReviewStartResponse };
  /** Lists the models that can be chosen. */
  "model/list": { params: ModelListParams; result: ModelListResponse };
  /** What the provider in use can do besides answering. */
  "modelProvider/capabilities/read": { params: ModelProviderCapabilitiesReadParams; result: ModelProviderCapabilitiesReadResponse };
  /** Lists optional features and their state. */
  "experimentalFeature/list": { params: ExperimentalFeatureListParams; result: ExperimentalFeatureListResponse };
  /** Turns optional features on or off for this process. */
  "experimentalFeature/enablement/set": { params: ExperimentalFeatureEnablementSetParams; result: ExperimentalFeatureEnablementSetResponse };
  /** Lists the presets for how agent and user work together. Experimental. */
  "collaborationMode/list": { params: CollaborationModeListParams; result: CollaborationModeListResponse };
  /** Echoes its argument; for testing the experimental gate. Experimental. */
  "mock/experimentalMethod": { params: MockExperimentalMethodParams; result: MockExperimentalMethodResponse };
  /** Begins the OAuth login of an MCP server. */
  "mcpServer/oauth/login": { params: McpServerOauthLoginParams; result: McpServerOauthLoginResponse };
  /** Reads the MCP servers from the configuration again. */
  "config/mcpServer/reload": { params: undefined; result: McpServerRefreshResponse };
  /** Lists MCP servers with their tools and login state. */
  "mcpServerStatus/list": { params: ListMcpServerStatusParams; result: ListMcpServerStatusResponse };
  /** Calls a tool of a thread's MCP server. */
  "mcpServer/tool/call": { params: McpServerToolCallParams; result: McpServerToolCallResponse };
  /** Reads a resource of a thread's MCP server. */
  "mcpServer/resource/read": { params: McpResourceReadParams; result: McpResourceReadResponse };
  /** Prepares the Windows sandbox. */
  "windowsSandbox/setupStart": { params: WindowsSandboxSetupStartParams; result: WindowsSandboxSetupStartResponse };
  /** Whether the sandbox on Windows can be used. */
  "windowsSandbox/readiness": { params: undefined; result: WindowsSandboxReadinessResponse };
  /** Begins a login. */
  "account/login/start": { params: LoginAccountParams; result: LoginAccountResponse };
  /** Gives up a login that is under way. */
  "account/login/cancel": { params: CancelLoginAccountParams; result: CancelLoginAccountResponse };
  /** Forgets the stored credentials. */
  "account/logout": { params: undefined; result: LogoutAccountResponse };
  /** Asks the provider for the account's rate limits. */
  "account/rateLimits/read": { params: undefined; result: GetAccountRateLimitsResponse };
  /** Whether an account of Amazon Bedrock lacks what its region requires. Experimental. */
  "account/bedrock/checkGovCloudRequirements": { params: BedrockCheckGovCloudRequirementsParams; result: BedrockCheckGovCloudRequirementsResponse };
  /** The state of the server's process. Experimental. */
  "server/diagnostics": { params: ServerDiagnosticsParams; result: ServerDiagnosticsResponse };
  /** Files a report about a thread. */
  "feedback/upload": { params: FeedbackUploadParams; result: FeedbackUploadResponse };
  /** Runs a command outside any thread; answered when it has ended. */
  "command/exec": { params: CommandExecParams; result: CommandExecResponse };
  /** Writes to the standard input of a running command. */
  "command/exec/write": { params: CommandExecWriteParams; result: CommandExecWriteResponse };
  /** Ends a running command. */
  "command/exec/terminate": { params: CommandExecTerminateParams; result: CommandExecTerminateResponse };
  /** Changes the terminal size of a running command. */
  "command/exec/resize": { params: CommandExecResizeParams; result: CommandExecResizeResponse };
  /** Returns the shell and the directory of an environment. Experimental. */
  "environment/info": { params: EnvironmentInfoParams; result: EnvironmentInfoResponse };
  /** Returns whether an environment can be used. Experimental. */
  "environment/status": { params: EnvironmentStatusParams; result: EnvironmentStatusResponse };
  /** Starts a process without a sandbox, which is reported on in notifications. Experimental. */
  "process/spawn": { params: ProcessSpawnParams; result: ProcessSpawnResponse };
  /** Writes to the standard input of a process. Experimental. */
  "process/writeStdin": { params: ProcessWriteStdinParams; result: ProcessWriteStdinResponse };
  /** Changes the terminal size of a process. Experimental. */
  "process/resizePty": { params: ProcessResizePtyParams; result: ProcessResizePtyResponse };
  /** Ends a process. Experimental. */
  "process/kill": { params: ProcessKillParams; result: ProcessKillResponse };
  /** Reads the configuration in force, and where each value came from. */
  "config/read": { params: ConfigReadParams; result: ConfigReadResponse };
  /** Looks for settings of other agents worth taking over. */
  "externalAgentConfig/detect": { params: ExternalAgentConfigDetectParams; result: ExternalAgentConfigDetectResponse };
  /** Takes over settings that were detected. */
  "externalAgentConfig/import": { params: ExternalAgentConfigImportParams; result: ExternalAgentConfigImportResponse };
  /** Changes one value of the user's configuration file. */
  "config/value/write": { params: ConfigValueWriteParams; result: ConfigWriteResponse };
  /** Changes several values of the user's configuration file at once. */
  "config/batchWrite": { params: ConfigBatchWriteParams; result: ConfigWriteResponse };
  /** Reads the limits an administrator has set. */
  "configRequirements/read": { params: undefined; result: ConfigRequirementsReadResponse };
  /** Returns who is logged in. */
  "account/read": { params: GetAccountParams; result: GetAccountResponse };
  /** Summarises a stored conversation; for clients of the first protocol version. Legacy. */
  "getConversationSummary": { params: GetConversationSummaryParams; result: GetConversationSummaryResponse };
  /** Compares a repository with its remote; for clients of the first protocol version. Legacy. */
  "gitDiffToRemote": { params: GitDiffToRemoteParams; result: GitDiffToRemoteResponse };
  /** Returns how the user is logged in; for clients of the first protocol version. Legacy. */
  "getAuthStatus": { params: GetAuthStatusParams; result: GetAuthStatusResponse };
  /** Finds files by an approximate name. */
  "fuzzyFileSearch": { params: FuzzyFileSearchParams; result: FuzzyFileSearchResponse };
  /** Opens a search that stays up to date while the user types. Experimental. */
  "fuzzyFileSearch/sessionStart": { params: FuzzyFileSearchSessionStartParams; result: FuzzyFileSearchSessionStartResponse };
  /** Changes the query of an open search. Experimental. */
  "fuzzyFileSearch/sessionUpdate": { params: FuzzyFileSearchSessionUpdateParams; result: FuzzyFileSearchSessionUpdateResponse };
  /** Closes an open search. Experimental. */
  "fuzzyFileSearch/sessionStop": { params: FuzzyFileSearchSessionStopParams; result: FuzzyFileSearchSessionStopResponse };
}

/**
 * The requests of a server, by method.
 */
export interface ServerRequests {
  /** Asks whether a command may run. */
  "item/commandExecution/requestApproval": { params: CommandExecutionRequestApprovalParams; result: CommandExecutionRequestApprovalResponse };
  /** Asks whether file changes may be made. */
  "item/fileChange/requestApproval": { params: FileChangeRequestApprovalParams; result: FileChangeRequestApprovalResponse };
  /** Asks the user questions on behalf of the agent. */
  "item/tool/requestUserInput": { params: ToolRequestUserInputParams; result: ToolRequestUserInputResponse };
  /** Asks the user something on behalf of an MCP server. */
  "mcpServer/elicitation/request": { params: McpServerElicitationRequestParams; result: McpServerElicitationRequestResponse };
  /** Asks for wider permissions. */
  "item/permissions/requestApproval": { params: PermissionsRequestApprovalParams; result: PermissionsRequestApprovalResponse };
  /** Runs a tool that the client provides. */
  "item/tool/call": { params: DynamicToolCallParams; result: DynamicToolCallResponse };
  /** Asks the client, which manages the tokens, for new ones. */
  "account/chatgptAuthTokens/refresh": { params: ChatgptAuthTokensRefreshParams; result: ChatgptAuthTokensRefreshResponse };
  /** Asks whether a patch may be applied; for clients of the first protocol version. */
  "applyPatchApproval": { params: ApplyPatchApprovalParams; result: ApplyPatchApprovalResponse };
  /** Asks whether a command may run; for clients of the first protocol version. */
  "execCommandApproval": { params: ExecCommandApprovalParams; result: ExecCommandApprovalResponse };
}

/**
 * The notifications of a server, by method.
 */
export interface ServerNotifications {
  /** Something went wrong in a turn; says whether it will be tried again. */
  "error": ErrorNotification;
  /** A thread was started. */
  "thread/started": ThreadStartedNotification;
  /** A loaded thread's status changed. */
  "thread/status/changed": ThreadStatusChangedNotification;
  /** A thread was archived. */
  "thread/archived": ThreadArchivedNotification;
  /** A thread was moved back from the archive. */
  "thread/unarchived": ThreadUnarchivedNotification;
  /** A thread was removed for good. */
  "thread/deleted": ThreadDeletedNotification;
  /** Turns of a thread were taken back. */
  "thread/reverted": ThreadRevertedNotification;
  /** The settings of a thread changed. */
  "thread/settings/updated": ThreadSettingsUpdatedNotification;
  /** The goal of a thread was set, changed or has come further. */
  "thread/goal/updated": ThreadGoalUpdatedNotification;
  /** The goal of a thread was removed. */
  "thread/goal/cleared": ThreadGoalClearedNotification;
  /** The queue of a thread changed. */
  "thread/queue/changed": ThreadQueueChangedNotification;
  /** Something was stored with a thread, or removed. */
  "thread/attachment/updated": ThreadAttachmentUpdatedNotification;
  /** What is read of a thread changed. Only clients with `experimentalApi` get it. */
  "thread/readState/changed": ThreadReadStateChangedNotification;
  /** A thread was unloaded. */
  "thread/closed": ThreadClosedNotification;
  /** Skill files changed; lists of skills are out of date. */
  "skills/changed": SkillsChangedNotification;
  /** A thread was named. */
  "thread/name/updated": ThreadNameUpdatedNotification;
  /** The tokens a thread has used. */
  "thread/tokenUsage/updated": ThreadTokenUsageUpdatedNotification;
  /** A turn began. */
  "turn/started": TurnStartedNotification;
  /** A hook began to run. */
  "hook/started": HookStartedNotification;
  /** A turn ended: completed, interrupted or failed. */
  "turn/completed": TurnCompletedNotification;
  /** A hook ended. */
  "hook/completed": HookCompletedNotification;
  /** All file changes of the turn so far, as one diff. */
  "turn/diff/updated": TurnDiffUpdatedNotification;
  /** The agent shared or changed its plan. */
  "turn/plan/updated": TurnPlanUpdatedNotification;
  /** An item began. */
  "item/started": ItemStartedNotification;
  /** A reviewer began to judge an action in the user's place. */
  "item/autoApprovalReview/started": ItemGuardianApprovalReviewStartedNotification;
  /** A reviewer judged an action in the user's place. */
  "item/autoApprovalReview/completed": ItemGuardianApprovalReviewCompletedNotification;
  /** An item ended; this is its final state. */
  "item/completed": ItemCompletedNotification;
  /** An item exactly as the model sent it. */
  "rawResponseItem/completed": RawResponseItemCompletedNotification;
  /** More text of an agent message. */
  "item/agentMessage/delta": AgentMessageDeltaNotification;
  /** More text of a proposed plan. */
  "item/plan/delta": PlanDeltaNotification;
  /** Output of a command run with `command/exec`. */
  "command/exec/outputDelta": CommandExecOutputDeltaNotification;
  /** Output of a process started with `process/spawn`. */
  "process/outputDelta": ProcessOutputDeltaNotification;
  /** A process started with `process/spawn` ended. */
  "process/exited": ProcessExitedNotification;
  /** Output of a command of the agent. */
  "item/commandExecution/outputDelta": CommandExecutionOutputDeltaNotification;
  /** The agent typed into a running command. */
  "item/commandExecution/terminalInteraction": TerminalInteractionNotification;
  /** Output of applying a patch. */
  "item/fileChange/outputDelta": FileChangeOutputDeltaNotification;
  /** A request of the server is settled, by an answer or otherwise. */
  "serverRequest/resolved": ServerRequestResolvedNotification;
  /** Progress of an MCP tool. */
  "item/mcpToolCall/progress": McpToolCallProgressNotification;
  /** The OAuth login of an MCP server ended. */
  "mcpServer/oauthLogin/completed": McpServerOauthLoginCompletedNotification;
  /** An MCP server is starting, is ready or has failed. */
  "mcpServer/startupStatus/updated": McpServerStatusUpdatedNotification;
  /** Who is logged in changed. */
  "account/updated": AccountUpdatedNotification;
  /** The account's rate limits changed. */
  "account/rateLimits/updated": AccountRateLimitsUpdatedNotification;
  /** The list of apps changed. */
  "app/list/updated": AppListUpdatedNotification;
  /** Watched files changed. */
  "fs/changed": FsChangedNotification;
  /** More text of a reasoning summary. */
  "item/reasoning/summaryTextDelta": ReasoningSummaryTextDeltaNotification;
  /** A new part of a reasoning summary begins. */
  "item/reasoning/summaryPartAdded": ReasoningSummaryPartAddedNotification;
  /** More text of raw reasoning. */
  "item/reasoning/textDelta": ReasoningTextDeltaNotification;
  /** The history was compacted; `contextCompaction` items say the same. */
  "thread/compacted": ContextCompactedNotification;
  /** The provider used another model than asked. */
  "model/rerouted": ModelReroutedNotification;
  /** Something that the user of a thread should know. */
  "warning": WarningNotification;
  /** Something in use is going away. */
  "deprecationNotice": DeprecationNoticeNotification;
  /** The configuration has a problem; says what is in force instead. */
  "configWarning": ConfigWarningNotification;
  /** Settings of another agent were taken over. */
  "externalAgentConfig/import/completed": ExternalAgentConfigImportCompletedNotification;
  /** Matches of an open search. */
  "fuzzyFileSearch/sessionUpdated": FuzzyFileSearchSessionUpdatedNotification;
  /** An open search has seen every file for its query. */
  "fuzzyFileSearch/sessionCompleted": FuzzyFileSearchSessionCompletedNotification;
  /** A voice session is open. */
  "thread/realtime/started": ThreadRealtimeStartedNotification;
  /** An item of the voice session, as the provider sent it. */
  "thread/realtime/itemAdded": ThreadRealtimeItemAddedNotification;
  /** More of the transcript of a voice session. */
  "thread/realtime/transcriptUpdated": ThreadRealtimeTranscriptUpdatedNotification;
  /** More sound from a voice session. */
  "thread/realtime/outputAudio/delta": ThreadRealtimeOutputAudioDeltaNotification;
  /** A voice session has a problem. */
  "thread/realtime/error": ThreadRealtimeErrorNotification;
  /** A voice session ended. */
  "thread/realtime/closed": ThreadRealtimeClosedNotification;
  /** Directories that anybody may write to weaken the Windows sandbox. */
  "windows/worldWritableWarning": WindowsWorldWritableWarningNotification;
  /** Preparation of the Windows sandbox ended. */
  "windowsSandbox/setupCompleted": WindowsSandboxSetupCompletedNotification;
  /** A login succeeded or failed. */
  "account/login/completed": AccountLoginCompletedNotification;
}
