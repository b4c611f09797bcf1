// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AbsolutePathBuf } from "../AbsolutePathBuf";

/**
 * Parameters of `plugin/list`.
 */
export type PluginListParams = { 
/**
 * Directories whose marketplaces count besides the user's own.
 */
cwds?: Array<AbsolutePathBuf> | null, 
/**
 * Takes over first what the account has installed elsewhere.
 */
forceRemoteSync?: boolean, };
