// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of the notification `thread/realtime/error`.
 */
export type ThreadRealtimeErrorNotification = { threadId: string, message: string, };
