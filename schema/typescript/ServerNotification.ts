// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AccountLoginCompletedNotification } from "./v2/AccountLoginCompletedNotification";
import type { AccountRateLimitsUpdatedNotification } from "./v2/AccountRateLimitsUpdatedNotification";
import type { AccountUpdatedNotification } from "./v2/AccountUpdatedNotification";
import type { AgentMessageDeltaNotification } from "./v2/AgentMessageDeltaNotification";
import type { AppListUpdatedNotification } from "./v2/AppListUpdatedNotification";
import type { CommandExecOutputDeltaNotification } from "./v2/CommandExecOutputDeltaNotification";
import type { CommandExecutionOutputDeltaNotification } from "./v2/CommandExecutionOutputDeltaNotification";
import type { ConfigWarningNotification } from "./v2/ConfigWarningNotification";
import type { ContextCompactedNotification } from "./v2/ContextCompactedNotification";
import type { DeprecationNoticeNotification } from "./v2/DeprecationNoticeNotification";
import type { ErrorNotification } from "./v2/ErrorNotification";
import type { FileChangeOutputDeltaNotification } from "./v2/FileChangeOutputDeltaNotification";
import type { FsChangedNotification } from "./v2/FsChangedNotification";
import type { FuzzyFileSearchSessionCompletedNotification } from "./FuzzyFileSearchSessionCompletedNotification";
import type { FuzzyFileSearchSessionUpdatedNotification } from "./FuzzyFileSearchSessionUpdatedNotification";
import type { HookCompletedNotification } from "./v2/HookCompletedNotification";
import type { HookStartedNotification } from "./v2/HookStartedNotification";
import type { ItemCompletedNotification } from "./v2/ItemCompletedNotification";
import type { ItemGuardianApprovalReviewCompletedNotification } from "./v2/ItemGuardianApprovalReviewCompletedNotification";
import type { ItemGuardianApprovalReviewStartedNotification } from "./v2/ItemGuardianApprovalReviewStartedNotification";
import type { ItemStartedNotification } from "./v2/ItemStartedNotification";
import type { McpServerOauthLoginCompletedNotification } from "./v2/McpServerOauthLoginCompletedNotification";
import type { McpServerStatusUpdatedNotification } from "./v2/McpServerStatusUpdatedNotification";
import type { McpToolCallProgressNotification } from "./v2/McpToolCallProgressNotification";
import type { ModelReroutedNotification } from "./v2/ModelReroutedNotification";
import type { PlanDeltaNotification } from "./v2/PlanDeltaNotification";
import type { RawResponseItemCompletedNotification } from "./v2/RawResponseItemCompletedNotification";
import type { ReasoningSummaryPartAddedNotification } from "./v2/ReasoningSummaryPartAddedNotification";
import type { ReasoningSummaryTextDeltaNotification } from "./v2/ReasoningSummaryTextDeltaNotification";
import type { ReasoningTextDeltaNotification } from "./v2/ReasoningTextDeltaNotification";
import type { ServerRequestResolvedNotification } from "./v2/ServerRequestResolvedNotification";
import type { SkillsChangedNotification } from "./v2/SkillsChangedNotification";
import type { TerminalInteractionNotification } from "./v2/TerminalInteractionNotification";
import type { ThreadArchivedNotification } from "./v2/ThreadArchivedNotification";
import type { ThreadClosedNotification } from "./v2/ThreadClosedNotification";
import type { ThreadNameUpdatedNotification } from "./v2/ThreadNameUpdatedNotification";
import type { ThreadRealtimeClosedNotification } from "./v2/ThreadRealtimeClosedNotification";
import type { ThreadRealtimeErrorNotification } from "./v2/ThreadRealtimeErrorNotification";
import type { ThreadRealtimeItemAddedNotification } from "./v2/ThreadRealtimeItemAddedNotification";
import type { ThreadRealtimeOutputAudioDeltaNotification } from "./v2/ThreadRealtimeOutputAudioDeltaNotification";
import type { ThreadRealtimeStartedNotification } from "./v2/ThreadRealtimeStartedNotification";
import type { ThreadRealtimeTranscriptUpdatedNotification } from "./v2/ThreadRealtimeTranscriptUpdatedNotification";
import type { ThreadStartedNotification } from "./v2/ThreadStartedNotification";
import type { ThreadStatusChangedNotification } from "./v2/ThreadStatusChangedNotification";
import type { ThreadTokenUsageUpdatedNotification } from "./v2/ThreadTokenUsageUpdatedNotification";
import type { ThreadUnarchivedNotification } from "./v2/ThreadUnarchivedNotification";
import type { TurnCompletedNotification } from "./v2/TurnCompletedNotification";
import type { TurnDiffUpdatedNotification } from "./v2/TurnDiffUpdatedNotification";
import type { TurnPlanUpdatedNotification } from "./v2/TurnPlanUpdatedNotification";
import type { TurnStartedNotification } from "./v2/TurnStartedNotification";
import type { WindowsSandboxSetupCompletedNotification } from "./v2/WindowsSandboxSetupCompletedNotification";
import type { WindowsWorldWritableWarningNotification } from "./v2/WindowsWorldWritableWarningNotification";

/**
 * A notification from the server.
 */
export type ServerNotification = { "method": "error", params: ErrorNotification, } | { "method": "thread/started", params: ThreadStartedNotification, } | { "method": "thread/status/changed", params: ThreadStatusChangedNotification, } | { "method": "thread/archived", params: ThreadArchivedNotification, } | { "method": "thread/unarchived", params: ThreadUnarchivedNotification, } | { "method": "thread/closed", params: ThreadClosedNotification, } | { "method": "skills/changed", params: SkillsChangedNotification, } | { "method": "thread/name/updated", params: ThreadNameUpdatedNotification, } | { "method": "thread/tokenUsage/updated", params: ThreadTokenUsageUpdatedNotification, } | { "method": "turn/started", params: TurnStartedNotification, } | { "method": "hook/started", params: HookStartedNotification, } | { "method": "turn/completed", params: TurnCompletedNotification, } | { "method": "hook/completed", params: HookCompletedNotification, } | { "method": "turn/diff/updated", params: TurnDiffUpdatedNotification, } | { "method": "turn/plan/updated", params: TurnPlanUpdatedNotification, } | { "method": "item/started", params: ItemStartedNotification, } | { "method": "item/autoApprovalReview/started", params: ItemGuardianApprovalReviewStartedNotification, } | { "method": "item/autoApprovalReview/completed", params: ItemGuardianApprovalReviewCompletedNotification, } | { "method": "item/completed", params: ItemCompletedNotification, } | { "method": "rawResponseItem/completed", params: RawResponseItemCompletedNotification, } | { "method": "item/agentMessage/delta", params: AgentMessageDeltaNotification, } | { "method": "item/plan/delta", params: PlanDeltaNotification, } | { "method": "command/exec/outputDelta", params: CommandExecOutputDeltaNotification, } | { "method": "item/commandExecution/outputDelta", params: CommandExecutionOutputDeltaNotification, } | { "method": "item/commandExecution/terminalInteraction", params: TerminalInteractionNotification, } | { "method": "item/fileChange/outputDelta", params: FileChangeOutputDeltaNotification, } | { "method": "serverRequest/resolved", params: ServerRequestResolvedNotification, } | { "method": "item/mcpToolCall/progress", params: McpToolCallProgressNotification, } | { "method": "mcpServer/oauthLogin/completed", params: McpServerOauthLoginCompletedNotification, } | { "method": "mcpServer/startupStatus/updated", params: McpServerStatusUpdatedNotification, } | { "method": "account/updated", params: AccountUpdatedNotification, } | { "method": "account/rateLimits/updated", params: AccountRateLimitsUpdatedNotification, } | { "method": "app/list/updated", params: AppListUpdatedNotification, } | { "method": "fs/changed", params: FsChangedNotification, } | { "method": "item/reasoning/summaryTextDelta", params: ReasoningSummaryTextDeltaNotification, } | { "method": "item/reasoning/summaryPartAdded", params: ReasoningSummaryPartAddedNotification, } | { "method": "item/reasoning/textDelta", params: ReasoningTextDeltaNotification, } | { "method": "thread/compacted", params: ContextCompactedNotification, } | { "method": "model/rerouted", params: ModelReroutedNotification, } | { "method": "deprecationNotice", params: DeprecationNoticeNotification, } | { "method": "configWarning", params: ConfigWarningNotification, } | { "method": "fuzzyFileSearch/sessionUpdated", params: FuzzyFileSearchSessionUpdatedNotification, } | { "method": "fuzzyFileSearch/sessionCompleted", params: FuzzyFileSearchSessionCompletedNotification, } | { "method": "thread/realtime/started", params: ThreadRealtimeStartedNotification, } | { "method": "thread/realtime/itemAdded", params: ThreadRealtimeItemAddedNotification, } | { "method": "thread/realtime/transcriptUpdated", params: ThreadRealtimeTranscriptUpdatedNotification, } | { "method": "thread/realtime/outputAudio/delta", params: ThreadRealtimeOutputAudioDeltaNotification, } | { "method": "thread/realtime/error", params: ThreadRealtimeErrorNotification, } | { "method": "thread/realtime/closed", params: ThreadRealtimeClosedNotification, } | { "method": "windows/worldWritableWarning", params: WindowsWorldWritableWarningNotification, } | { "method": "windowsSandbox/setupCompleted", params: WindowsSandboxSetupCompletedNotification, } | { "method": "account/login/completed", params: AccountLoginCompletedNotification, };
