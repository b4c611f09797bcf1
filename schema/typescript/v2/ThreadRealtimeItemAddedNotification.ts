// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { JsonValue } from "../serde_json/JsonValue";

/**
 * Parameters of the notification `thread/realtime/itemAdded`.
 */
export type ThreadRealtimeItemAddedNotification = { threadId: string, 
/**
 * Something from the provider that has no notification of its own, as received.
 */
item: JsonValue, };
