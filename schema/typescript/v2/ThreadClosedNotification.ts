// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of the notification `thread/closed`: the thread is no longer loaded.
 */
export type ThreadClosedNotification = { threadId: string, };
