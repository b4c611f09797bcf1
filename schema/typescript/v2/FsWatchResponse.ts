// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AbsolutePathBuf } from "../AbsolutePathBuf";

/**
 * Result of `fs/watch`.
 */
export type FsWatchResponse = { 
/**
 * Names the watch on this connection.
 */
watchId: string, 
/**
 * The watched path without `.` and `..`; links are kept.
 */
path: AbsolutePathBuf, };
