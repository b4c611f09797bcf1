// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { CollabAgentState } from "./CollabAgentState";
import type { CollabAgentTool } from "./CollabAgentTool";
import type { CollabAgentToolCallStatus } from "./CollabAgentToolCallStatus";
import type { CommandAction } from "./CommandAction";
import type { CommandExecutionSource } from "./CommandExecutionSource";
import type { CommandExecutionStatus } from "./CommandExecutionStatus";
import type { DynamicToolCallOutputContentItem } from "./DynamicToolCallOutputContentItem";
import type { DynamicToolCallStatus } from "./DynamicToolCallStatus";
import type { FileUpdateChange } from "./FileUpdateChange";
import type { HookPromptFragment } from "./HookPromptFragment";
import type { JsonValue } from "../serde_json/JsonValue";
import type { McpToolCallError } from "./McpToolCallError";
import type { McpToolCallResult } from "./McpToolCallResult";
import type { McpToolCallStatus } from "./McpToolCallStatus";
import type { MemoryCitation } from "./MemoryCitation";
import type { MessagePhase } from "../MessagePhase";
import type { PatchApplyStatus } from "./PatchApplyStatus";
import type { ReasoningEffort } from "../ReasoningEffort";
import type { UserInput } from "./UserInput";
import type { WebSearchAction } from "./WebSearchAction";

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
durationMs: number | null, } | { "type": "dynamicToolCall", id: string, tool: string, arguments: JsonValue, status: DynamicToolCallStatus, 
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
