// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { SubAgentSource } from "../SubAgentSource";

/**
 * What started a thread.
 */
export type SessionSource = "cli" | "vscode" | "exec" | "appServer" | { "custom": string } | { "subAgent": SubAgentSource } | "unknown";
