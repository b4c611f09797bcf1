// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { WindowsSandboxSetupMode } from "./WindowsSandboxSetupMode";

/**
 * Parameters of the notification `windowsSandbox/setupCompleted`.
 */
export type WindowsSandboxSetupCompletedNotification = { mode: WindowsSandboxSetupMode, success: boolean, 
/**
 * Why it failed; null on success.
 */
error: string | null, };
