// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { Turn } from "./Turn";

/**
 * Parameters of the notification `turn/started`.
 */
export type TurnStartedNotification = { threadId: string, 
/**
 * Without items.
 */
turn: Turn, };
