// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AbsolutePathBuf } from "../AbsolutePathBuf";

/**
 * Parameters of `fs/copy`.
 */
export type FsCopyParams = { 
/**
 * A file, a directory or a link, which is copied as a link.
 */
sourcePath: AbsolutePathBuf, 
/**
 * An existing file is overwritten, an existing directory is added to.
 */
destinationPath: AbsolutePathBuf, 
/**
 * Needed to copy a directory.
 */
recursive?: boolean, };
