// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { SubAgentSource } from "./SubAgentSource";

/**
 * Where a conversation came from, in the words of the first protocol version.
 */
export type SessionSource = "cli" | "vscode" | "exec" | "mcp" | { "custom": string } | { "subagent": SubAgentSource } | "unknown";
