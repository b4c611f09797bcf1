// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ThreadItem } from "./ThreadItem";
import type { TurnError } from "./TurnError";
import type { TurnStatus } from "./TurnStatus";

/**
 * What the agent does about one input of the user.
 */
export type Turn = { id: string, 
/**
 * Filled when a history is read; empty in `turn/started` and `turn/completed`.
 */
items: Array<ThreadItem>, status: TurnStatus, 
/**
 * Set only if `failed`.
 */
error: TurnError | null, };
