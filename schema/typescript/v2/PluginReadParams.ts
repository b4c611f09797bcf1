// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AbsolutePathBuf } from "../AbsolutePathBuf";

/**
 * Parameters of `plugin/read`.
 */
export type PluginReadParams = { 
/**
 * The `path` of the marketplace in `plugin/list`.
 */
marketplacePath: AbsolutePathBuf, pluginName: string, };
