// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of the notification `thread/unarchived`.
 */
export type ThreadUnarchivedNotification = { threadId: string, };
