// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of the notification `item/reasoning/textDelta`.
 */
export type ReasoningTextDeltaNotification = { threadId: string, turnId: string, itemId: string, 
/**
 * Text to append.
 */
delta: string, 
/**
 * The part of `content`, counted from 0.
 */
contentIndex: number, };
