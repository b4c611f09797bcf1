// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Result of `config/mcpServer/reload`.
 */
export type McpServerRefreshResponse = Record<string, never>;
