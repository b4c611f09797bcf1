// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AbsolutePathBuf } from "../AbsolutePathBuf";

/**
 * Parameters of `fs/createDirectory`.
 */
export type FsCreateDirectoryParams = { path: AbsolutePathBuf, 
/**
 * Also creates missing parents and accepts an existing directory; `true` if absent.
 */
recursive?: boolean | null, };
