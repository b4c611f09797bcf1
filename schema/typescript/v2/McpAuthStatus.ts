// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * How requests to an MCP server are authenticated.
 */
export type McpAuthStatus = "unsupported" | "notLoggedIn" | "bearerToken" | "oAuth";
