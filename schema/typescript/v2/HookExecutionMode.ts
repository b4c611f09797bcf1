// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Whether the turn waits for a hook.
 */
export type HookExecutionMode = "sync" | "async";
