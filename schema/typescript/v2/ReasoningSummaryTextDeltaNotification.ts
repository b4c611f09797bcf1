// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of the notification `item/reasoning/summaryTextDelta`.
 */
export type ReasoningSummaryTextDeltaNotification = { threadId: string, turnId: string, itemId: string, 
/**
 * Text to append.
 */
delta: string, 
/**
 * The part of `summary`, counted from 0.
 */
summaryIndex: number, };
