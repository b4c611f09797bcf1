// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ThreadStatus } from "./ThreadStatus";

/**
 * Parameters of the notification `thread/status/changed`.
 */
export type ThreadStatusChangedNotification = { threadId: string, status: ThreadStatus, };
