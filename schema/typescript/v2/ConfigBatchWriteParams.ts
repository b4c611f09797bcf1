// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ConfigEdit } from "./ConfigEdit";

/**
 * Parameters of `config/batchWrite`.
 */
export type ConfigBatchWriteParams = { 
/**
 * Applied in order, all or none.
 */
edits: Array<ConfigEdit>, 
/**
 * Must be the user's `config.toml`, which is also the default.
 */
filePath?: string | null, 
/**
 * The `version` of the user layer that the client knows; if it has changed, nothing is
 * written.
 */
expectedVersion?: string | null, 
/**
 * Lets loaded threads use the new values from their next turn on.
 */
reloadUserConfig?: boolean, };
