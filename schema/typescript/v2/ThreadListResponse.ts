// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { Thread } from "./Thread";

/**
 * Result of `thread/list`.
 */
export type ThreadListResponse = { 
/**
 * Without turns.
 */
data: Array<Thread>, 
/**
 * Null on the last page.
 */
nextCursor: string | null, };
