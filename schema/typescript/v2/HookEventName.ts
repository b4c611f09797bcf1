// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * The point at which a hook runs.
 */
export type HookEventName = "preToolUse" | "postToolUse" | "sessionStart" | "userPromptSubmit" | "stop";
