// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ConversationSummary } from "./ConversationSummary";

/**
 * Result of `getConversationSummary`.
 */
export type GetConversationSummaryResponse = { summary: ConversationSummary, };
