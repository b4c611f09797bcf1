// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AbsolutePathBuf } from "../AbsolutePathBuf";

/**
 * Parameters of `fs/readFile`.
 */
export type FsReadFileParams = { 
/**
 * A file of at most 512 MiB; links are followed.
 */
path: AbsolutePathBuf, };
