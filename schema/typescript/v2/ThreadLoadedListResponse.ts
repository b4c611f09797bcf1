// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Result of `thread/loaded/list`.
 */
export type ThreadLoadedListResponse = { 
/**
 * Thread ids in ascending order, those of sub-agents and ephemeral threads included.
 */
data: Array<string>, 
/**
 * Null on the last page.
 */
nextCursor: string | null, };
