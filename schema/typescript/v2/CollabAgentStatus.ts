// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * The state of a sub-agent.
 */
export type CollabAgentStatus = "pendingInit" | "running" | "interrupted" | "completed" | "errored" | "shutdown" | "notFound";
