// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of the notification `thread/realtime/transcriptUpdated`.
 */
export type ThreadRealtimeTranscriptUpdatedNotification = { threadId: string, 
/**
 * Who speaks: `user` or `assistant`.
 */
role: string, 
/**
 * What was said since the last one.
 */
text: string, };
