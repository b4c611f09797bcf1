// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ExternalAgentConfigMigrationItem } from "./ExternalAgentConfigMigrationItem";

/**
 * Parameters of `externalAgentConfig/import`.
 */
export type ExternalAgentConfigImportParams = { 
/**
 * Taken over in order, until one fails.
 */
migrationItems: Array<ExternalAgentConfigMigrationItem>, };
