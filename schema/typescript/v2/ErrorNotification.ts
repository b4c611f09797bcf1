// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { TurnError } from "./TurnError";

/**
 * Parameters of the notification `error`.
 */
export type ErrorNotification = { error: TurnError, 
/**
 * Whether the model request is made again; if not, the turn fails.
 */
willRetry: boolean, threadId: string, turnId: string, };
