// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Result of `externalAgentConfig/import`.
 */
export type ExternalAgentConfigImportResponse = Record<string, never>;
