// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * How far a call about sub-agents has come.
 */
export type CollabAgentToolCallStatus = "inProgress" | "completed" | "failed";
