// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AbsolutePathBuf } from "../AbsolutePathBuf";

/**
 * Parameters of `fs/getMetadata`.
 */
export type FsGetMetadataParams = { 
/**
 * Links are followed.
 */
path: AbsolutePathBuf, };
