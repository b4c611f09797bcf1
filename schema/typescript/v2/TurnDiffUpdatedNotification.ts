// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of the notification `turn/diff/updated`.
 */
export type TurnDiffUpdatedNotification = { threadId: string, turnId: string, 
/**
 * All that patches changed in this turn, as a Git diff; commands are not covered.
 */
diff: string, };
