// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { CollabAgentStatus } from "./CollabAgentStatus";

/**
 * The state of a sub-agent, and what it said last.
 */
export type CollabAgentState = { status: CollabAgentStatus, 
/**
 * What it said last if `completed`, what went wrong if `errored`, else null.
 */
message: string | null, };
