// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of the notification `mcpServer/oauthLogin/completed`.
 */
export type McpServerOauthLoginCompletedNotification = { name: string, success: boolean, 
/**
 * Why it failed; absent on success.
 */
error?: string, };
