// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { HookRunSummary } from "./HookRunSummary";

/**
 * Parameters of the notification `hook/started`.
 */
export type HookStartedNotification = { threadId: string, turnId: string | null, run: HookRunSummary, };
