// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { Thread } from "./Thread";

/**
 * Result of `thread/rollback`.
 */
export type ThreadRollbackResponse = { 
/**
 * With the turns that are left.
 */
thread: Thread, };
