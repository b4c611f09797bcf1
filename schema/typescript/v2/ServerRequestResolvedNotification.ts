// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { RequestId } from "../RequestId";

/**
 * Parameters of the notification `serverRequest/resolved`: a request to clients needs no answer
 * any more.
 */
export type ServerRequestResolvedNotification = { threadId: string, 
/**
 * The `id` of that request.
 */
requestId: RequestId, };
