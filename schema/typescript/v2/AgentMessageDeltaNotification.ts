// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of the notification `item/agentMessage/delta`.
 */
export type AgentMessageDeltaNotification = { threadId: string, turnId: string, itemId: string, 
/**
 * Text to append.
 */
delta: string, };
