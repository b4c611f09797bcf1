// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Why a call brought no result.
 */
export type McpToolCallError = { message: string, };
