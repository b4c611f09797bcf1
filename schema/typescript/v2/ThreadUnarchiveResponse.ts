// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { Thread } from "./Thread";

/**
 * Result of `thread/unarchive`.
 */
export type ThreadUnarchiveResponse = { 
/**
 * Without turns; it is not loaded.
 */
thread: Thread, };
