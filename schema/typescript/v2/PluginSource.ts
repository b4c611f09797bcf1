// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AbsolutePathBuf } from "../AbsolutePathBuf";

/**
 * Where the files of a plugin are.
 */
export type PluginSource = { "type": "local", path: AbsolutePathBuf, };
