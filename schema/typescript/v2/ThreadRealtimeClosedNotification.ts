// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of the notification `thread/realtime/closed`.
 */
export type ThreadRealtimeClosedNotification = { threadId: string, 
/**
 * `requested`, `transport_closed` or `error`.
 */
reason: string | null, };
