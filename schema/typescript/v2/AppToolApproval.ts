// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * When a tool of an app asks before it runs.
 */
export type AppToolApproval = "auto" | "prompt" | "approve";
