// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * How far an MCP server has come for a thread.
 */
export type McpServerStartupState = "starting" | "ready" | "failed" | "cancelled";
