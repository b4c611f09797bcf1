// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { McpServerStartupState } from "./McpServerStartupState";

/**
 * Parameters of the notification `mcpServer/startupStatus/updated`, sent to the subscribers of the
 * thread that starts the MCP server.
 */
export type McpServerStatusUpdatedNotification = { name: string, status: McpServerStartupState, 
/**
 * Set with `failed`.
 */
error: string | null, };
