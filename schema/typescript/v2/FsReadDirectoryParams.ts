// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AbsolutePathBuf } from "../AbsolutePathBuf";

/**
 * Parameters of `fs/readDirectory`.
 */
export type FsReadDirectoryParams = { path: AbsolutePathBuf, };
