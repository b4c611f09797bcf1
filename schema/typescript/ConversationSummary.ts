// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ConversationGitInfo } from "./ConversationGitInfo";
import type { SessionSource } from "./SessionSource";
import type { ThreadId } from "./ThreadId";

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
cliVersion: string, source: SessionSource, gitInfo: ConversationGitInfo | null, };
