// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ParsedCommand } from "./ParsedCommand";
import type { ThreadId } from "./ThreadId";

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
