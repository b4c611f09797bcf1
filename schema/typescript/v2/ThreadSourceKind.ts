// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * What started a thread, to filter by.
 */
export type ThreadSourceKind = "cli" | "vscode" | "exec" | "appServer" | "subAgent" | "subAgentReview" | "subAgentCompact" | "subAgentThreadSpawn" | "subAgentOther" | "unknown";
