// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ResponseItem } from "../ResponseItem";

/**
 * Parameters of the notification `rawResponseItem/completed`, sent on threads started with
 * `experimentalRawEvents`.
 */
export type RawResponseItemCompletedNotification = { threadId: string, turnId: string, 
/**
 * An item that was added to the model's history.
 */
item: ResponseItem, };
