// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of the notification `thread/name/updated`.
 */
export type ThreadNameUpdatedNotification = { threadId: string, 
/**
 * Absent if the thread has no name any more.
 */
threadName?: string, };
