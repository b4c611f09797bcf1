// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * What a hook belongs to.
 */
export type HookScope = "thread" | "turn";
