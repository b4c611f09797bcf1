// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { Thread } from "./Thread";

/**
 * Result of `thread/read`.
 */
export type ThreadReadResponse = { thread: Thread, };
