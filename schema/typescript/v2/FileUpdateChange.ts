// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { PatchChangeKind } from "./PatchChangeKind";

/**
 * The change to one file of a patch.
 */
export type FileUpdateChange = { 
/**
 * The absolute path, before a move.
 */
path: string, kind: PatchChangeKind, 
/**
 * The hunks of an update, without file headers; else the whole file.
 */
diff: string, };
