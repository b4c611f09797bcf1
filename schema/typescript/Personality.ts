// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * The tone of the agent.
 */
export type Personality = "none" | "friendly" | "pragmatic";
