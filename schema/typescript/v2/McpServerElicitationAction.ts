// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * What the user did with a question of an MCP server.
 */
export type McpServerElicitationAction = "accept" | "decline" | "cancel";
