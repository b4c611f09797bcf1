// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of the notification `item/mcpToolCall/progress`, which servers do not send yet.
 */
export type McpToolCallProgressNotification = { threadId: string, turnId: string, itemId: string, message: string, };
