// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AbsolutePathBuf } from "../AbsolutePathBuf";

/**
 * Parameters of `plugin/install`.
 */
export type PluginInstallParams = { 
/**
 * The `path` of the marketplace in `plugin/list`.
 */
marketplacePath: AbsolutePathBuf, pluginName: string, 
/**
 * Installs it for the account as well.
 */
forceRemoteSync?: boolean, };
