// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * What kind of thing can be taken over.
 */
export type ExternalAgentConfigMigrationItemType = "AGENTS_MD" | "CONFIG" | "SKILLS" | "MCP_SERVER_CONFIG";
