// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ContentItem } from "./ContentItem";
import type { FunctionCallOutputBody } from "./FunctionCallOutputBody";
import type { GhostCommit } from "./GhostCommit";
import type { LocalShellAction } from "./LocalShellAction";
import type { LocalShellStatus } from "./LocalShellStatus";
import type { MessagePhase } from "./MessagePhase";
import type { ReasoningItemContent } from "./ReasoningItemContent";
import type { ReasoningItemReasoningSummary } from "./ReasoningItemReasoningSummary";
import type { WebSearchAction } from "./WebSearchAction";

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
encrypted_content: string | null, } | { "type": "local_shell_call", call_id: string | null, status: LocalShellStatus, action: LocalShellAction, } | { "type": "function_call", name: string, 
/**
 * The group of tools that the name belongs to.
 */
namespace?: string, 
/**
 * JSON in a string, as the model wrote it.
 */
arguments: string, call_id: string, } | { "type": "tool_search_call", call_id: string | null, status?: string, 
/**
 * Who searches: `client` or `server`.
 */
execution: string, arguments: unknown, } | { "type": "function_call_output", call_id: string, output: FunctionCallOutputBody, } | { "type": "custom_tool_call", status?: string, call_id: string, name: string, 
/**
 * The text, as the model wrote it.
 */
input: string, } | { "type": "custom_tool_call_output", call_id: string, name?: string, output: FunctionCallOutputBody, } | { "type": "tool_search_output", call_id: string | null, status: string, 
/**
 * Who searched: `client` or `server`.
 */
execution: string, tools: unknown[], } | { "type": "web_search_call", status?: string, action?: WebSearchAction, } | { "type": "image_generation_call", id: string, status: string, revised_prompt?: string, 
/**
 * The image in base64.
 */
result: string, } | { "type": "ghost_snapshot", ghost_commit: GhostCommit, } | { "type": "compaction", 
/**
 * That history in a form that only the provider can read.
 */
encrypted_content: string, } | { "type": "other" };
