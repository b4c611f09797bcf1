// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { HookRunSummary } from "./HookRunSummary";

/**
 * Parameters of the notification `hook/completed`.
 */
export type HookCompletedNotification = { threadId: string, turnId: string | null, run: HookRunSummary, };
