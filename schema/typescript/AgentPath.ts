// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 *  The path of a sub-agent below its root thread.
 */
export type AgentPath = string;
