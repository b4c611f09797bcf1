// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of `mcpServerStatus/list`.
 */
export type ListMcpServerStatusParams = { 
/**
 * The `nextCursor` of the page before; absent for the first.
 */
cursor?: string | null, 
/**
 * Servers per page; all if absent.
 */
limit?: number | null, };
