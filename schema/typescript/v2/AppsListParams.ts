// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of `app/list`.
 */
export type AppsListParams = { 
/**
 * The `nextCursor` of the page before; absent for the first.
 */
cursor?: string | null, 
/**
 * Apps per page; all if absent.
 */
limit?: number | null, 
/**
 * The thread whose settings decide whether apps are on.
 */
threadId?: string | null, 
/**
 * Asks the sources again instead of using lists of up to an hour ago.
 */
forceRefetch?: boolean, };
