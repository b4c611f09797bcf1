// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * How far a call of an MCP tool has come.
 */
export type McpToolCallStatus = "inProgress" | "completed" | "failed";
