// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { McpServerStatus } from "./McpServerStatus";

/**
 * Result of `mcpServerStatus/list`.
 */
export type ListMcpServerStatusResponse = { 
/**
 * Sorted by name.
 */
data: Array<McpServerStatus>, 
/**
 * Null on the last page.
 */
nextCursor: string | null, };
