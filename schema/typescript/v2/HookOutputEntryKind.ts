// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * What a hook's words are for.
 */
export type HookOutputEntryKind = "warning" | "stop" | "feedback" | "context" | "error";
