// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Result of `mcpServer/oauth/login`.
 */
export type McpServerOauthLoginResponse = { 
/**
 * The page to open in the user's browser.
 */
authorizationUrl: string, };
