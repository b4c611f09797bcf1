// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AbsolutePathBuf } from "../AbsolutePathBuf";

/**
 * Parameters of `fs/watch`.
 */
export type FsWatchParams = { 
/**
 * A file, or a directory whose direct children count.
 */
path: AbsolutePathBuf, };
