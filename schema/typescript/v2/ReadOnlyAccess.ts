// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AbsolutePathBuf } from "../AbsolutePathBuf";

/**
 * What a sandboxed command may read.
 */
export type ReadOnlyAccess = { "type": "restricted", 
/**
 * Also the system's own directories, such as `/usr` and `/etc`.
 */
includePlatformDefaults: boolean, readableRoots: Array<AbsolutePathBuf>, } | { "type": "fullAccess" };
