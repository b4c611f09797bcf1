// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * What a hook is.
 */
export type HookHandlerType = "command" | "prompt" | "agent";
