// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of `thread/loaded/list`.
 */
export type ThreadLoadedListParams = { 
/**
 * A thread id; the list goes on after it.
 */
cursor?: string | null, 
/**
 * Threads per page; all if absent.
 */
limit?: number | null, };
