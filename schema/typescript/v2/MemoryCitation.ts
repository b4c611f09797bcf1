// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { MemoryCitationEntry } from "./MemoryCitationEntry";

/**
 * The notes on earlier threads that a message relies on.
 */
export type MemoryCitation = { entries: Array<MemoryCitationEntry>, 
/**
 * The threads that the notes are about.
 */
threadIds: Array<string>, };
