// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ThreadSortKey } from "./ThreadSortKey";
import type { ThreadSourceKind } from "./ThreadSourceKind";

/**
 * Parameters of `thread/list`.
 */
export type ThreadListParams = { 
/**
 * The `nextCursor` of the page before; absent for the first.
 */
cursor?: string | null, 
/**
 * Threads per page, from 1 to 100; 25 if absent.
 */
limit?: number | null, 
/**
 * `created_at` if absent.
 */
sortKey?: ThreadSortKey | null, 
/**
 * If absent, only threads of the configured provider; if empty, of all.
 */
modelProviders?: Array<string> | null, 
/**
 * If absent or empty, only threads that a user started: `cli` and `vscode`.
 */
sourceKinds?: Array<ThreadSourceKind> | null, 
/**
 * Whether to list only archived threads, or only the others; `false` if absent.
 */
archived?: boolean | null, 
/**
 * Only threads with exactly this working directory.
 */
cwd?: string | null, 
/**
 * Only threads whose first message has this text in it; case counts.
 */
searchTerm?: string | null, };
