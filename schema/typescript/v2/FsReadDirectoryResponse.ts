// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { FsReadDirectoryEntry } from "./FsReadDirectoryEntry";

/**
 * Result of `fs/readDirectory`.
 */
export type FsReadDirectoryResponse = { 
/**
 * In no particular order, hidden ones included.
 */
entries: Array<FsReadDirectoryEntry>, };
