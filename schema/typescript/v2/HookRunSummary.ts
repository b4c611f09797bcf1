// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { HookEventName } from "./HookEventName";
import type { HookExecutionMode } from "./HookExecutionMode";
import type { HookHandlerType } from "./HookHandlerType";
import type { HookOutputEntry } from "./HookOutputEntry";
import type { HookRunStatus } from "./HookRunStatus";
import type { HookScope } from "./HookScope";

/**
 * One run of a hook.
 */
export type HookRunSummary = { 
/**
 * `<event>:<displayOrder>:<sourcePath>`, the same for each run of a hook.
 */
id: string, eventName: HookEventName, handlerType: HookHandlerType, executionMode: HookExecutionMode, scope: HookScope, 
/**
 * The `hooks.json` that declares the hook.
 */
sourcePath: string, 
/**
 * The place among all hooks, counted from 0.
 */
displayOrder: bigint, status: HookRunStatus, 
/**
 * What to show while it runs, if the hook declares it.
 */
statusMessage: string | null, 
/**
 * In Unix seconds.
 */
startedAt: bigint, 
/**
 * In Unix seconds; null while it runs.
 */
completedAt: bigint | null, 
/**
 * In milliseconds; null while it runs.
 */
durationMs: bigint | null, 
/**
 * Empty while it runs.
 */
entries: Array<HookOutputEntry>, };
