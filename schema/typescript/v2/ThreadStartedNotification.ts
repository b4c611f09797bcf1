// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { Thread } from "./Thread";

/**
 * Parameters of the notification `thread/started`.
 */
export type ThreadStartedNotification = { 
/**
 * With turns after a fork only.
 */
thread: Thread, };
