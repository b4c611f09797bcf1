// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { Turn } from "./Turn";

/**
 * Parameters of the notification `turn/completed`.
 */
export type TurnCompletedNotification = { threadId: string, 
/**
 * Without items; its `status` says how it ended.
 */
turn: Turn, };
