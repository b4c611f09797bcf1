// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { GitInfo } from "./GitInfo";
import type { SessionSource } from "./SessionSource";
import type { ThreadStatus } from "./ThreadStatus";
import type { Turn } from "./Turn";

/**
 * A conversation with the agent.
 */
export type Thread = { id: string, 
/**
 * The user's first message; empty before there is one.
 */
preview: string, 
/**
 * Whether it lives in memory only.
 */
ephemeral: boolean, modelProvider: string, 
/**
 * When it was started, in Unix seconds.
 */
createdAt: number, 
/**
 * When it last changed, in Unix seconds.
 */
updatedAt: number, status: ThreadStatus, 
/**
 * The rollout file, which the first message creates; null if `ephemeral`. Unstable.
 */
path: string | null, cwd: string, 
/**
 * The version of the program that started it.
 */
cliVersion: string, source: SessionSource, 
/**
 * Set on threads that another agent spawned.
 */
agentNickname: string | null, 
/**
 * Set on threads that another agent spawned.
 */
agentRole: string | null, 
/**
 * Null if it was not started in a Git repository, or is not stored yet.
 */
gitInfo: GitInfo | null, 
/**
 * What `thread/name/set` last set; a fork starts without one.
 */
name: string | null, 
/**
 * Filled by `thread/resume`, `thread/fork`, `thread/rollback` and `thread/read` with
 * `includeTurns`; else empty.
 */
turns: Array<Turn>, };
