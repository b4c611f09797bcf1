// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ThreadItem } from "./ThreadItem";

/**
 * Parameters of the notification `item/started`.
 */
export type ItemStartedNotification = { 
/**
 * The item as it is now; its `id` is the `itemId` of all that follows.
 */
item: ThreadItem, threadId: string, turnId: string, };
