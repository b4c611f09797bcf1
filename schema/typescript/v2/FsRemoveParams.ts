// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AbsolutePathBuf } from "../AbsolutePathBuf";

/**
 * Parameters of `fs/remove`.
 */
export type FsRemoveParams = { 
/**
 * A link is removed, not what it points to.
 */
path: AbsolutePathBuf, 
/**
 * Removes a directory with all it holds; `true` if absent.
 */
recursive?: boolean | null, 
/**
 * Accepts that there is nothing to remove; `true` if absent.
 */
force?: boolean | null, };
