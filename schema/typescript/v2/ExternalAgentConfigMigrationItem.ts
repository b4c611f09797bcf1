// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ExternalAgentConfigMigrationItemType } from "./ExternalAgentConfigMigrationItemType";

/**
 * Something that can be taken over.
 */
export type ExternalAgentConfigMigrationItem = { itemType: ExternalAgentConfigMigrationItemType, 
/**
 * What is copied from where to where, for the user.
 */
description: string, 
/**
 * The repository it is found in; null for the home directory.
 */
cwd: string | null, };
