// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { RealtimeConversationVersion } from "../RealtimeConversationVersion";

/**
 * Parameters of the notification `thread/realtime/started`.
 */
export type ThreadRealtimeStartedNotification = { threadId: string, sessionId: string | null, version: RealtimeConversationVersion, };
