// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * What an agent does with its sub-agents.
 */
export type CollabAgentTool = "spawnAgent" | "sendInput" | "resumeAgent" | "wait" | "closeAgent";
