// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of the notification `thread/compacted`; deprecated, the `contextCompaction` item says
 * the same.
 */
export type ContextCompactedNotification = { threadId: string, turnId: string, };
