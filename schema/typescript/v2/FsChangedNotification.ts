// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AbsolutePathBuf } from "../AbsolutePathBuf";

/**
 * Parameters of the notification `fs/changed`.
 */
export type FsChangedNotification = { watchId: string, 
/**
 * What was created, changed, renamed or removed; sorted, each path once.
 */
changedPaths: Array<AbsolutePathBuf>, };
