// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of the notification `item/reasoning/summaryPartAdded`.
 */
export type ReasoningSummaryPartAddedNotification = { threadId: string, turnId: string, itemId: string, 
/**
 * The part of `summary` that begins, counted from 0.
 */
summaryIndex: number, };
