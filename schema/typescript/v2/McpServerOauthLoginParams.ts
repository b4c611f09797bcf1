// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of `mcpServer/oauth/login`.
 */
export type McpServerOauthLoginParams = { 
/**
 * The name of the server in the configuration.
 */
name: string, 
/**
 * If absent, the configured ones, else those that the server offers.
 */
scopes?: Array<string> | null, 
/**
 * Seconds to wait for the browser; 300 if absent.
 */
timeoutSecs?: bigint | null, };
