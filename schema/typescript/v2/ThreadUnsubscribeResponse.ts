// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ThreadUnsubscribeStatus } from "./ThreadUnsubscribeStatus";

/**
 * Result of `thread/unsubscribe`.
 */
export type ThreadUnsubscribeResponse = { status: ThreadUnsubscribeStatus, };
