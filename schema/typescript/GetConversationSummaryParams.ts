// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ThreadId } from "./ThreadId";

/**
 * Parameters of `getConversationSummary`.
 */
export type GetConversationSummaryParams = { rolloutPath: string, } | { conversationId: ThreadId, };
