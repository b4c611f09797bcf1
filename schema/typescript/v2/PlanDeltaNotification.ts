// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of the notification `item/plan/delta`.
 */
export type PlanDeltaNotification = { threadId: string, turnId: string, itemId: string, 
/**
 * Text to append; the finished plan may differ from the sum.
 */
delta: string, };
