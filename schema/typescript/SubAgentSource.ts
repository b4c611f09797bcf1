// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AgentPath } from "./AgentPath";
import type { ThreadId } from "./ThreadId";

/**
 * What a thread was started for by another thread or by the server.
 */
export type SubAgentSource = "review" | "compact" | { "thread_spawn": { parent_thread_id: ThreadId, 
/**
 * How many agents are above it; at least 1.
 */
depth: number, agent_path: AgentPath | null, agent_nickname: string | null, 
/**
 * The kind of agent, which decides its settings.
 */
agent_role: string | null, } } | "memory_consolidation" | { "other": string };
