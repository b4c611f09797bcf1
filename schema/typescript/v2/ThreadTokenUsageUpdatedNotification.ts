// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ThreadTokenUsage } from "./ThreadTokenUsage";

/**
 * Parameters of the notification `thread/tokenUsage/updated`.
 */
export type ThreadTokenUsageUpdatedNotification = { threadId: string, 
/**
 * The turn in which the request was made.
 */
turnId: string, tokenUsage: ThreadTokenUsage, };
