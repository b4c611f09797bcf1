// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ThreadItem } from "./ThreadItem";

/**
 * Parameters of the notification `item/completed`.
 */
export type ItemCompletedNotification = { 
/**
 * The item in full, which replaces what the deltas added up to.
 */
item: ThreadItem, threadId: string, turnId: string, };
