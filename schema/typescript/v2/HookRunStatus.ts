// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * How far a hook has come.
 */
export type HookRunStatus = "running" | "completed" | "failed" | "blocked" | "stopped";
