// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of the notification `thread/archived`.
 */
export type ThreadArchivedNotification = { threadId: string, };
