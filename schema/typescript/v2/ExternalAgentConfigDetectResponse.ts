// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ExternalAgentConfigMigrationItem } from "./ExternalAgentConfigMigrationItem";

/**
 * Result of `externalAgentConfig/detect`.
 */
export type ExternalAgentConfigDetectResponse = { items: Array<ExternalAgentConfigMigrationItem>, };
