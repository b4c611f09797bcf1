// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ThreadRealtimeAudioChunk } from "./ThreadRealtimeAudioChunk";

/**
 * Parameters of the notification `thread/realtime/outputAudio/delta`.
 */
export type ThreadRealtimeOutputAudioDeltaNotification = { threadId: string, audio: ThreadRealtimeAudioChunk, };
